# bfstore from Perl, on one page. Debian: libffi-platypus-perl. It needs libbfstore.so.0 where the loader finds it.
#   perl bf.pl create users.bf 1000 && perl bf.pl add users.bf user 10 && perl bf.pl ask users.bf user 12
use v5.36;

package BFS::Error;    # What die() is given: prints as its message.
use overload '""' => sub { "$_[0]{message}\n" }, fallback => 1;

package BFS::Record::Error;    # the structs of capi/bfstore.h that are used here
use FFI::Platypus::Record;
record_layout_1(qw(uint32 struct_bytes sint32 code sint32 os_errno uint32 reserved string(496) message));

package BFS::Record::Options;
use FFI::Platypus::Record;
record_layout_1(qw(uint32 struct_bytes uint32 mode uint64 flags uint64 capacity double fpr double bits_per_key
    uint64 max_bytes uint64 num_bits uint32 num_probes uint32 layout uint32 hash uint32 reserved uint64 seed
    opaque like opaque note uint64 note_bytes opaque key uint64 key_bytes uint32 lock_timeout_ms
    uint32 writeback_check_ms uint8[16] file_id opaque seeds uint64 num_seeds));

package BFS::Record::Keys;
use FFI::Platypus::Record;
record_layout_1(qw(uint32 struct_bytes uint32 kind uint64 count opaque data uint64 data_bytes opaque lengths
    opaque offsets uint64 key_bytes uint64 stride opaque validity uint64 validity_offset));

package BFS;
use Encode ();
use FFI::Platypus 2.00;
use FFI::Platypus::Buffer qw(scalar_to_pointer);
use constant { READ => 1, WRITE => 2, COLUMN64 => 5 };

my $ffi = FFI::Platypus->new(api => 2, lib => 'libbfstore.so.0');
$ffi->type("record(BFS::Record::$_)*" => $_) for qw(Error Options Keys);
$ffi->attach(bfs_strerror => ['sint32'] => 'string');
$ffi->attach(bfs_create => ['string', 'Options', 'opaque*', 'Error'] => 'sint32');
$ffi->attach(bfs_open => ['string', 'uint64', 'opaque*', 'Error'] => 'sint32');
$ffi->attach(bfs_close => ['opaque', 'Error'] => 'sint32');
$ffi->attach(bfs_abandon => ['opaque'] => 'void');
$ffi->attach([bfs_add => 'c_add'] => ['opaque', 'string', 'size_t'] => 'sint32');
$ffi->attach([bfs_contains => 'c_contains'] => ['opaque', 'string', 'size_t'] => 'sint32');
$ffi->attach(bfs_add_keys => ['opaque', 'Keys'] => 'sint64');
$ffi->attach(bfs_contains_keys => ['opaque', 'Keys', 'opaque'] => 'sint64');

sub record ($class, %fields) { "BFS::Record::$class"->new(struct_bytes => $ffi->sizeof($class), %fields) }
sub fail (%fields) { die bless {os_errno => 0, %fields}, 'BFS::Error' }
sub checked ($code) { $code < 0 ? fail(code => $code, message => bfs_strerror($code)) : $code }
sub bytes ($key) { Encode::encode('UTF-8', $key, Encode::FB_CROAK | Encode::LEAVE_SRC) }    # no lone surrogates

sub try_call ($function, @arguments) {
    return if $function->(@arguments, my $error = record('Error')) == 0;
    fail(code => $error->code, os_errno => $error->os_errno, message => $error->message =~ s/\0.*//sr);
}
sub create ($class, $path, %size) { try_call(\&bfs_create, $path, record(Options => %size), \my $handle); bless \$handle }
sub open ($class, $path, $flags = READ) { try_call(\&bfs_open, $path, $flags, \my $handle); bless \$handle }
sub close ($self) { my $handle = $$self; $$self = undef; try_call(\&bfs_close, $handle) }
sub DESTROY ($self) { bfs_abandon($$self) if $$self }    # what was not closed is not synced, and nothing is lost

sub add ($self, $key) { my $bytes = bytes($key); checked(c_add($$self, $bytes, length $bytes)) }
sub contains ($self, $key) { my $bytes = bytes($key); checked(c_contains($$self, $bytes, length $bytes)) != 0 }

# A column: the bytes of all keys, and where each begins and the last one ends. It is read where Perl has it.
sub with_column ($keys, $use) {
    my ($data, @ends) = ('', 0);
    for my $key (@$keys) { $data .= bytes($key); push @ends, length $data }
    my $offsets = pack 'q*', @ends;
    checked($use->(record(Keys => kind => COLUMN64, count => scalar @$keys, data => scalar_to_pointer($data),
        data_bytes => length $data, offsets => scalar_to_pointer($offsets))));
}
sub add_all ($self, @keys) { with_column(\@keys, sub ($column) { bfs_add_keys($$self, $column) }) }
sub contains_all ($self, @keys) {    # a list of 1 (maybe) and 0 (certainly not)
    my $answers = "\1" x @keys;
    with_column(\@keys, sub ($column) { bfs_contains_keys($$self, $column, scalar_to_pointer($answers)) });
    return unpack 'C*', $answers;
}

package main;
my ($command, $path, $what, $count) = @ARGV;
utf8::decode($what) if defined $what;    # from bytes to text
my @keys = map { "$what-$_" } 0 .. ($count // 0) - 1;
my %commands = (
    create => sub { BFS->create($path, capacity => $what, fpr => 0.01)->close },
    add => sub {
        my $filter = BFS->open($path, BFS::WRITE);
        $filter->add($keys[$_]) for grep { $_ % 2 == 0 } 0 .. $#keys;
        $filter->add_all(map { $keys[$_] } grep { $_ % 2 } 0 .. $#keys);
        $filter->close;
    },
    ask => sub {
        my $filter = BFS->open($path);
        my $single = join '', map { $filter->contains($_) ? 1 : 0 } @keys;
        die "one by one and as a batch are not the same\n" if $single ne join '', $filter->contains_all(@keys);
        say $single;
    },
    fail => sub {
        die "opened\n" if eval { BFS->open($path) };
        say join ' ', $@->{code}, $@->{os_errno}, ref $@;
    },
);
eval { $commands{$command}->(); 1 } or do { print STDERR $@; exit 1 };
