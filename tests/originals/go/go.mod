module originals

go 1.19

require (
	github.com/DCSO/bloom v0.2.4
	github.com/bits-and-blooms/bitset v1.24.2
	github.com/bits-and-blooms/bloom/v3 v3.7.1
)
