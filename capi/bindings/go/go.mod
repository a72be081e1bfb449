module bfstore.example/bfstore

go 1.19
