# The program `agree` (languages.py) of Perl, by the sample.
use v5.36;
require './bf.pl';

my ($command, $path, $what, $count) = @ARGV;
utf8::decode($what) if defined $what;    # from bytes to text
my @keys = map { "$what-$_" } 0 .. ($count // 0) - 1;
my %commands = (
    create => sub { BFS->open_or_create($path, $what, 0.01)->close },
    add => sub {
        my $filter = BFS->open($path, BFS::WRITE());
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
