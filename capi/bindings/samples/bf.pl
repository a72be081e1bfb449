# bfstore from Perl, a page to copy. Debian: libffi-platypus-perl. It needs libbfstore.so.0 where the loader finds it.
#   perl bf.pl    # prints: 1 10
use v5.36;

package BFS::Error;    # the argument of die(): prints as its message
use overload '""' => sub { "$_[0]{message}\n" }, fallback => 1;

package BFS;
use Encode ();
use FFI::Platypus 2.00;
use FFI::Platypus::Buffer qw(scalar_to_pointer);
use constant { READ => 1, WRITE => 2, CREATE => 8, COLUMN64 => 5 };

my $ffi = FFI::Platypus->new(api => 2, lib => 'libbfstore.so.0');    # the parts of capi/bfstore.h that are used here
$ffi->attach(bfs_strerror => ['sint32'] => 'string');
$ffi->attach(bfs_open => ['string', 'uint64', 'opaque', 'opaque*', 'opaque'] => 'sint32');
$ffi->attach(bfs_close => ['opaque', 'opaque'] => 'sint32');
$ffi->attach(bfs_abandon => ['opaque'] => 'void');
$ffi->attach([bfs_add => 'c_add'] => ['opaque', 'string', 'size_t'] => 'sint32');
$ffi->attach([bfs_contains => 'c_contains'] => ['opaque', 'string', 'size_t'] => 'sint32');
$ffi->attach(bfs_add_keys => ['opaque', 'opaque'] => 'sint64');
$ffi->attach(bfs_contains_keys => ['opaque', 'opaque', 'opaque'] => 'sint64');

# A struct: its size, its first fields (pack() has the letters of their types), and zeros.
sub struct ($size, $types, @fields) { pack "La*x![$size]", $size, pack($types, @fields) }
sub fail (%fields) { die bless {os_errno => 0, %fields}, 'BFS::Error' }
sub checked ($code) { $code < 0 ? fail(code => $code, message => bfs_strerror($code)) : $code }
sub bytes ($key) { Encode::encode('UTF-8', $key, Encode::FB_CROAK | Encode::LEAVE_SRC) }    # no lone surrogates

sub try_call ($function, @arguments) {
    my $error = struct(512, '');    # bfs_error: struct_bytes, code, os_errno, rule, message
    return if $function->(@arguments, scalar_to_pointer($error)) >= 0;
    my ($code, $os_errno, $message) = unpack 'x4 l l x4 Z*', $error;
    fail(code => $code, os_errno => $os_errno, message => $message);
}
sub open ($class, $path, $flags = READ, $options = undef) {
    try_call(\&bfs_open, $path, $flags, $options, \my $handle);
    return bless \$handle;
}
sub open_or_create ($class, $path, $capacity, $fpr) {    # for writing; any number of processes at once
    my $options = struct(184, 'LQd', 0, $capacity, $fpr);    # struct_bytes, mode, capacity, fpr ...
    return $class->open($path, WRITE | CREATE, scalar_to_pointer($options));
}
sub close ($self) {    # everything that was added is on the disk when it returns
    (my $handle, $$self) = ($$self, undef);
    try_call(\&bfs_close, $handle) if $handle;
}
sub DESTROY ($self) { bfs_abandon($$self) if $$self }    # without close: not synced

sub add ($self, $key) { my $bytes = bytes($key); checked(c_add($$self, $bytes, length $bytes)) }
sub contains ($self, $key) { my $bytes = bytes($key); checked(c_contains($$self, $bytes, length $bytes)) != 0 }
sub add_all ($self, @keys) { with_column(\@keys, sub ($column) { bfs_add_keys($$self, $column) }) }
sub contains_all ($self, @keys) {    # a list of 1 (maybe) and 0 (certainly not)
    my $answers = "\1" x @keys;
    with_column(\@keys, sub ($column) { bfs_contains_keys($$self, $column, scalar_to_pointer($answers)) });
    return unpack 'C*', $answers;
}
sub with_column ($keys, $use) {    # bfs_keys: struct_bytes, kind, count, data, data_bytes, lengths, offsets ...
    my ($data, @ends) = ('', 0);
    for my $key (@$keys) { $data .= bytes($key); push @ends, length $data }
    my @parts = (scalar_to_pointer($data), length $data, 0, scalar_to_pointer(my $offsets = pack 'q*', @ends));
    my $column = struct(96, 'LQQQQQ', COLUMN64, scalar @$keys, @parts);
    return checked($use->(scalar_to_pointer($column)));
}

return 1 if caller;    # require './bf.pl'
my $users = BFS->open_or_create('users.bf', 1000, 0.01);
$users->add('alice');
$users->add_all('bob', 'carol');
say $users->contains('alice'), ' ', $users->contains_all('bob', 'mallory');
$users->close;
