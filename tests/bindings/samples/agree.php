<?php
// The program `agree` (languages.py) of PHP, by the sample.
declare(strict_types=1);
require 'bf.php';

set_exception_handler(function ($error) { fwrite(STDERR, $error->getMessage() . "\n"); exit(1); });
[, $command, $path, $what, $count] = $argv + [3 => '', 4 => 0];
$keys = array_map(fn($number) => "$what-$number", $count > 0 ? range(0, $count - 1) : []);
if ($command === 'create') {
    BfsFilter::openOrCreate($path, capacity: (int) $what, fpr: 0.01)->close();
} elseif ($command === 'add') {
    $filter = BfsFilter::open($path, BfsFilter::WRITE);
    $is_even = fn($number) => $number % 2 === 0;
    foreach (array_filter($keys, $is_even, ARRAY_FILTER_USE_KEY) as $key) $filter->add($key);
    $filter->addAll(array_filter($keys, fn($number) => !$is_even($number), ARRAY_FILTER_USE_KEY));
    $filter->close();
} elseif ($command === 'ask') {
    $filter = BfsFilter::open($path);
    $single = array_map(fn($key) => $filter->contains($key) ? 1 : 0, $keys);
    if ($single !== $filter->containsAll($keys)) throw new LogicException('one by one and as a batch are not the same');
    echo implode('', $single), "\n";
} elseif ($command === 'fail') {
    try {
        BfsFilter::open($path);
    } catch (BfsError $error) {
        exit("{$error->getCode()} $error->osErrno " . $error::class . "\n");
    }
    throw new LogicException('opened');
}
