# bfstore from Ruby, on one page. Debian: ruby, ruby-ffi. It needs libbfstore.so.0 where the loader finds it.
#   ruby bf.rb create users.bf 1000 && ruby bf.rb add users.bf user 10 && ruby bf.rb ask users.bf user 12
require "ffi"

module Bfs
  READ, WRITE, COLUMN64 = 1, 2, 5

  module C # the part of capi/bfstore.h that is used here
    extend FFI::Library
    ffi_lib "libbfstore.so.0"

    class Error < FFI::Struct
      layout struct_bytes: :uint32, code: :int32, os_errno: :int32, reserved: :uint32, message: [:char, 496]
    end
    class Options < FFI::Struct
      layout struct_bytes: :uint32, mode: :uint32, flags: :uint64, capacity: :uint64, fpr: :double,
             bits_per_key: :double, max_bytes: :uint64, num_bits: :uint64, num_probes: :uint32, layout: :uint32,
             hash: :uint32, reserved: :uint32, seed: :uint64, like: :pointer, note: :pointer, note_bytes: :uint64,
             key: :pointer, key_bytes: :uint64, lock_timeout_ms: :uint32, writeback_check_ms: :uint32,
             file_id: [:uint8, 16], seeds: :pointer, num_seeds: :uint64
    end
    class Keys < FFI::Struct
      layout struct_bytes: :uint32, kind: :uint32, count: :uint64, data: :pointer, data_bytes: :uint64,
             lengths: :pointer, offsets: :pointer, key_bytes: :uint64, stride: :uint64, validity: :pointer,
             validity_offset: :uint64
    end

    attach_function :bfs_strerror, [:int32], :string
    attach_function :bfs_create, [:string, Options, :pointer, Error], :int32, blocking: true
    attach_function :bfs_open, [:string, :uint64, :pointer, Error], :int32, blocking: true
    attach_function :bfs_close, [:pointer, Error], :int32, blocking: true
    attach_function :bfs_abandon, [:pointer], :void
    attach_function :bfs_add, [:pointer, :buffer_in, :size_t], :int32
    attach_function :bfs_contains, [:pointer, :buffer_in, :size_t], :int32
    attach_function :bfs_add_keys, [:pointer, Keys], :int64, blocking: true
    attach_function :bfs_contains_keys, [:pointer, Keys, :pointer], :int64, blocking: true

    def self.sized(struct, **fields)
      struct.new.tap { |made| { struct_bytes: struct.size, **fields }.each { |name, value| made[name] = value } }
    end
  end

  class Error < StandardError
    attr_reader :code, :os_errno

    def initialize(code, os_errno = 0, message = C.bfs_strerror(code))
      super(message)
      @code, @os_errno = code, os_errno
    end

    def self.check(code) = code < 0 ? raise(new(code)) : code

    def self.try(function, *arguments)
      error = C.sized(C::Error)
      return if C.send(function, *arguments, error).zero?
      raise new(error[:code], error[:os_errno], error[:message].to_s.force_encoding("UTF-8"))
    end
  end

  class Filter
    def self.create(path, **size) = new(:bfs_create, path, C.sized(C::Options, **size))
    def self.open(path, flags = READ) = new(:bfs_open, path, flags)

    def initialize(function, *arguments)
      Error.try(function, *arguments, out = FFI::MemoryPointer.new(:pointer))
      @handle = FFI::AutoPointer.new(out.read_pointer, C.method(:bfs_abandon)) # where close was forgotten: not synced
    end

    def close
      handle, @handle = @handle, nil
      return unless handle
      handle.autorelease = false
      Error.try(:bfs_close, handle)
    end

    def add(key) = Error.check(C.bfs_add(@handle, bytes(key), bytes(key).bytesize)) == 1
    def include?(key) = Error.check(C.bfs_contains(@handle, bytes(key), bytes(key).bytesize)) != 0
    def add_all(keys) = Error.check(C.bfs_add_keys(@handle, column(keys)))

    def include_all?(keys) # an array of 1 (maybe) and 0 (certainly not)
      answers = FFI::MemoryPointer.new(:uint8, keys.size)
      Error.check(C.bfs_contains_keys(@handle, column(keys), answers))
      answers.read_array_of_uint8(keys.size)
    end

    private

    def bytes(key)
      return key if key.encoding == Encoding::BINARY
      text = key.encode("UTF-8")
      text.valid_encoding? ? text : raise(EncodingError, "a key is not valid Unicode")
    end

    # The bytes of all keys, and where each begins and the last one ends. The struct keeps both from the collector.
    def column(keys)
      data = keys.map { |key| bytes(key).b }
      ends = data.reduce([0]) { |sums, key| sums << sums.last + key.bytesize }
      C.sized(C::Keys, kind: COLUMN64, count: keys.size, data_bytes: ends.last,
              data: FFI::MemoryPointer.new(:char, ends.last + 1).put_bytes(0, data.join),
              offsets: FFI::MemoryPointer.new(:int64, ends.size).put_array_of_int64(0, ends))
    end
  end
end

command, path, what, count = ARGV
keys = (0...count.to_i).map { |number| "#{what}-#{number}" }
case command
when "create" then Bfs::Filter.create(path, capacity: what.to_i, fpr: 0.01).close
when "add"
  filter = Bfs::Filter.open(path, Bfs::WRITE)
  one_by_one, batch = keys.each_with_index.partition { |_, number| number.even? }.map { |pairs| pairs.map(&:first) }
  one_by_one.each { |key| filter.add(key) }
  filter.add_all(batch)
  filter.close
when "ask"
  filter = Bfs::Filter.open(path)
  single = keys.map { |key| filter.include?(key) ? 1 : 0 }
  abort "one by one and as a batch are not the same" if single != filter.include_all?(keys)
  puts single.join
when "fail"
  begin
    Bfs::Filter.open(path)
    abort "opened"
  rescue Bfs::Error => error
    puts "#{error.code} #{error.os_errno} #{error.class}"
  end
end
