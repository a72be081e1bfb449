<?php
// bfstore from PHP, on one page. Debian: php-cli (8.1 or later). It needs libbfstore.so.0 where the loader finds it.
//   php bf.php create users.bf 1000 && php bf.php add users.bf user 10 && php bf.php ask users.bf user 12
declare(strict_types=1);

const BFS_OPEN_READ = 1, BFS_OPEN_WRITE = 2, BFS_KEYS_COLUMN64 = 5;
function bfs(): FFI { static $ffi; return $ffi ??= FFI::cdef(<<<'C'
    /* the part of capi/bfstore.h that is used here */
    typedef struct bfs_filter bfs_filter;
    typedef struct { uint32_t struct_bytes; int32_t code, os_errno; uint32_t reserved; char message[496]; } bfs_error;
    typedef struct {
      uint32_t struct_bytes, mode; uint64_t flags, capacity; double fpr, bits_per_key; uint64_t max_bytes, num_bits;
      uint32_t num_probes, layout, hash, reserved; uint64_t seed; const char* like; const void* note;
      uint64_t note_bytes; const void* key; uint64_t key_bytes; uint32_t lock_timeout_ms, writeback_check_ms;
      uint8_t file_id[16]; const uint32_t* seeds; uint64_t num_seeds;
    } bfs_options;
    typedef struct {
      uint32_t struct_bytes, kind; uint64_t count; const char* data; uint64_t data_bytes; const size_t* lengths;
      const int64_t* offsets; uint64_t key_bytes, stride; const uint8_t* validity; uint64_t validity_offset;
    } bfs_keys;
    const char* bfs_strerror(int32_t code);
    int32_t bfs_create(const char* path, const bfs_options* options, bfs_filter** out, bfs_error* error);
    int32_t bfs_open(const char* path, uint64_t flags, bfs_filter** out, bfs_error* error);
    int32_t bfs_close(bfs_filter* filter, bfs_error* error);
    void bfs_abandon(bfs_filter* filter);
    int32_t bfs_add(bfs_filter* filter, const char* key, size_t key_bytes);
    int32_t bfs_contains(const bfs_filter* filter, const char* key, size_t key_bytes);
    int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys);
    int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers);
    C, 'libbfstore.so.0'); }

final class BfsError extends RuntimeException {
    public function __construct(string $message, int $code, public readonly int $osErrno = 0) {
        parent::__construct($message, $code);
    }
}

final class BfsFilter {
    private ?FFI\CData $handle;

    private function __construct(string $function, string $path, FFI\CData|int $how) {
        $this->handle = bfs()->new('bfs_filter*');
        self::try($function, $path, $how instanceof FFI\CData ? FFI::addr($how) : $how, FFI::addr($this->handle));
    }
    public static function create(string $path, int $capacity, float $fpr): self {
        return new self('bfs_create', $path, self::sized('bfs_options', capacity: $capacity, fpr: $fpr));
    }
    public static function open(string $path, int $flags = BFS_OPEN_READ): self { return new self('bfs_open', $path, $flags); }
    public function close(): void {
        [$handle, $this->handle] = [$this->handle, null];
        if ($handle) self::try('bfs_close', $handle);
    }
    public function __destruct() { // where close was forgotten: not synced
        if ($this->handle) bfs()->bfs_abandon($this->handle);
    }

    // A key is the bytes of a string: UTF-8, if the program's text is.
    public function add(string $key): bool {
        return self::checked(bfs()->bfs_add($this->handle, $key, strlen($key))) === 1;
    }
    public function contains(string $key): bool {
        return self::checked(bfs()->bfs_contains($this->handle, $key, strlen($key))) !== 0;
    }
    public function addAll(array $keys): int {
        return self::withColumn($keys, fn($column) => bfs()->bfs_add_keys($this->handle, $column));
    }
    public function containsAll(array $keys): string { // a byte for each key: 1 is maybe, 0 is certainly not
        $answers = FFI::new('uint8_t[' . count($keys) + 1 . ']');
        self::withColumn($keys, fn($column) => bfs()->bfs_contains_keys($this->handle, $column, $answers));
        return FFI::string($answers, count($keys));
    }

    // The bytes of all keys, and where each begins and the last one ends: copied, for PHP keeps its strings to itself.
    private static function withColumn(array $keys, callable $use): int {
        $ends = [0];
        foreach ($keys as $key) $ends[] = end($ends) + strlen($key);
        $data = FFI::new('char[' . end($ends) + 1 . ']');
        FFI::memcpy($data, implode('', $keys), end($ends));
        $offsets = FFI::new('int64_t[' . count($ends) . ']');
        FFI::memcpy($offsets, pack('q*', ...$ends), FFI::sizeof($offsets));
        $column = self::sized('bfs_keys', kind: BFS_KEYS_COLUMN64, count: count($keys), data: FFI::addr($data[0]),
            data_bytes: end($ends), offsets: FFI::addr($offsets[0]));
        return self::checked($use(FFI::addr($column)));
    }
    private static function sized(string $struct, mixed ...$fields): FFI\CData {
        $made = bfs()->new($struct);
        foreach (['struct_bytes' => FFI::sizeof($made)] + $fields as $name => $value) $made->$name = $value;
        return $made;
    }
    private static function checked(int $code): int {
        return $code < 0 ? throw new BfsError(bfs()->bfs_strerror($code), $code) : $code;
    }
    private static function try(string $function, mixed ...$arguments): void {
        $error = self::sized('bfs_error');
        if (bfs()->$function(...[...$arguments, FFI::addr($error)]) === 0) return;
        throw new BfsError(FFI::string(FFI::addr($error->message[0])), $error->code, $error->os_errno);
    }
}

set_exception_handler(function ($error) { fwrite(STDERR, $error->getMessage() . "\n"); exit(1); });
[, $command, $path, $what, $count] = $argv + [3 => '', 4 => 0];
$keys = array_map(fn($number) => "$what-$number", $count > 0 ? range(0, $count - 1) : []);
if ($command === 'create') {
    BfsFilter::create($path, capacity: (int) $what, fpr: 0.01)->close();
} elseif ($command === 'add') {
    $filter = BfsFilter::open($path, BFS_OPEN_WRITE);
    $is_even = fn($number) => $number % 2 === 0;
    foreach (array_filter($keys, $is_even, ARRAY_FILTER_USE_KEY) as $key) $filter->add($key);
    $filter->addAll(array_filter($keys, fn($number) => !$is_even($number), ARRAY_FILTER_USE_KEY));
    $filter->close();
} elseif ($command === 'ask') {
    $filter = BfsFilter::open($path);
    $single = implode('', array_map(fn($key) => $filter->contains($key) ? "\1" : "\0", $keys));
    if ($single !== $filter->containsAll($keys)) throw new LogicException('one by one and as a batch are not the same');
    echo strtr($single, "\0\1", '01'), "\n";
} elseif ($command === 'fail') {
    try {
        BfsFilter::open($path);
    } catch (BfsError $error) {
        exit("{$error->getCode()} $error->osErrno " . $error::class . "\n");
    }
    throw new LogicException('opened');
}
