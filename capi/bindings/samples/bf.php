<?php
// bfstore from PHP, a page to copy. Debian: php-cli (8.1 or later). It needs libbfstore.so.0 where the loader finds it.
//   php bf.php    # prints: true [1,0]
declare(strict_types=1);

// The parts of capi/bfstore.h that are used here; the fields in `rest` stay zero.
function bfs(): FFI { static $ffi; return $ffi ??= FFI::cdef(<<<'C'
    typedef struct bfs_filter bfs_filter;
    typedef struct { uint32_t struct_bytes; int32_t code, os_errno; uint32_t rule; char message[496]; } bfs_error;
    typedef struct { uint32_t struct_bytes, mode; uint64_t capacity; double fpr; char rest[160]; } bfs_options;
    typedef struct { uint32_t struct_bytes, kind; uint64_t count; const char* data; uint64_t data_bytes;
                     const size_t* lengths; const int64_t* offsets; char rest[48]; } bfs_keys;
    const char* bfs_strerror(int32_t code);
    int32_t bfs_open(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error);
    int32_t bfs_close(bfs_filter* filter, bfs_error* error);
    void bfs_abandon(bfs_filter* filter);
    int32_t bfs_add(bfs_filter* filter, const char* key, size_t key_bytes);
    int32_t bfs_contains(const bfs_filter* filter, const char* key, size_t key_bytes);
    int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys);
    int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers);
    C, 'libbfstore.so.0'); }
function bfs_struct(string $name, mixed ...$fields): FFI\CData {
    $made = bfs()->new($name);
    foreach (['struct_bytes' => FFI::sizeof($made)] + $fields as $field => $value) $made->$field = $value;
    return $made;
}
function bfs_try(string $function, mixed ...$arguments): void {
    $error = bfs_struct('bfs_error');
    if (bfs()->$function(...[...$arguments, FFI::addr($error)]) >= 0) return;
    throw new BfsError(FFI::string(FFI::addr($error->message[0])), $error->code, $error->os_errno);
}

final class BfsError extends RuntimeException {
    public function __construct(string $message, int $code, public readonly int $osErrno = 0) {
        parent::__construct($message, $code);
    }
}

final class BfsFilter {
    const READ = 1, WRITE = 2;
    private const CREATE = 8, COLUMN64 = 5;
    private ?FFI\CData $handle;

    private function __construct(string $path, int $flags, ?FFI\CData $options) {
        $this->handle = bfs()->new('bfs_filter*');
        bfs_try('bfs_open', $path, $flags, $options, FFI::addr($this->handle));
    }
    public static function open(string $path, int $flags = self::READ): self { return new self($path, $flags, null); }
    /** For writing; any number of processes at once. */
    public static function openOrCreate(string $path, int $capacity, float $fpr): self {
        $options = bfs_struct('bfs_options', capacity: $capacity, fpr: $fpr);
        return new self($path, self::WRITE | self::CREATE, FFI::addr($options));
    }
    public function close(): void { // everything that was added is on the disk when it returns
        [$handle, $this->handle] = [$this->handle, null];
        if ($handle) bfs_try('bfs_close', $handle);
    }
    public function __destruct() { if ($this->handle) bfs()->bfs_abandon($this->handle); } // not synced

    // A key is the bytes of a string: UTF-8, if the program's text is.
    public function add(string $key): bool { return $this->call('bfs_add', $key, strlen($key)) === 1; }
    public function contains(string $key): bool { return $this->call('bfs_contains', $key, strlen($key)) !== 0; }
    public function addAll(array $keys): int { return $this->withColumn('bfs_add_keys', array_values($keys)); }
    public function containsAll(array $keys): array { // 1 is maybe, 0 is certainly not
        $answers = FFI::new('uint8_t[' . count($keys) + 1 . ']');
        $this->withColumn('bfs_contains_keys', array_values($keys), $answers);
        return array_values(unpack('C*', FFI::string($answers, count($keys))));
    }
    private function withColumn(string $function, array $keys, FFI\CData ...$out): int { // a copy: PHP's strings move
        $text = implode('', $keys);
        FFI::memcpy($data = FFI::new('char[' . strlen($text) + 1 . ']'), $text, strlen($text));
        $ends = FFI::new('int64_t[' . count($keys) + 1 . ']');
        foreach ($keys as $i => $key) $ends[$i + 1] = $ends[$i] + strlen($key);
        $column = bfs_struct('bfs_keys', kind: self::COLUMN64, count: count($keys), data: FFI::addr($data[0]),
            data_bytes: strlen($text), offsets: FFI::addr($ends[0]));
        return $this->call($function, FFI::addr($column), ...$out);
    }
    private function call(string $function, mixed ...$arguments): int {
        $code = bfs()->$function($this->handle, ...$arguments);
        return $code < 0 ? throw new BfsError(bfs()->bfs_strerror($code), $code) : $code;
    }
}

if (get_included_files()[0] === __FILE__) {
    $users = BfsFilter::openOrCreate('users.bf', capacity: 1000, fpr: 0.01);
    $users->add('alice');
    $users->addAll(['bob', 'carol']);
    echo json_encode($users->contains('alice')), ' ', json_encode($users->containsAll(['bob', 'mallory'])), "\n";
    $users->close();
}
