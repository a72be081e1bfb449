# bfstore from Ruby, a page to copy. Debian: ruby, ruby-ffi. It needs libbfstore.so.0 where the loader finds it.
#   ruby bf.rb    # prints: true [1, 0]
require "ffi"

module Bfs # the parts of capi/bfstore.h that are used here
  extend FFI::Library
  ffi_lib "libbfstore.so.0"
  attach_function :bfs_strerror, [:int32], :string
  attach_function :bfs_open, [:string, :uint64, :pointer, :pointer, :pointer], :int32, blocking: true
  attach_function :bfs_close, [:pointer, :pointer], :int32, blocking: true
  attach_function :bfs_abandon, [:pointer], :void
  attach_function :bfs_add, [:pointer, :buffer_in, :size_t], :int32
  attach_function :bfs_contains, [:pointer, :buffer_in, :size_t], :int32
  attach_function :bfs_add_keys, [:pointer, :pointer], :int64, blocking: true
  attach_function :bfs_contains_keys, [:pointer, :pointer, :pointer], :int64, blocking: true
  READ, WRITE, CREATE, COLUMN64 = 1, 2, 8, 5

  class Error < StandardError
    attr_accessor :code, :os_errno
    def self.with(message, code, os_errno) = new(message).tap { |made| made.code, made.os_errno = code, os_errno }
  end

  # A struct: its size, its first fields (Array#pack has the letters of their types), and zeros.
  def self.struct(size, types, *fields) = FFI::MemoryPointer.new(size).put_bytes(0, [size, *fields].pack("L" + types))
  def self.check(code) = code < 0 ? raise(Error.with(bfs_strerror(code), code, 0)) : code
  def self.try(function, *arguments)
    error = struct(512, "") # bfs_error: struct_bytes, code, os_errno, rule, message
    return if send(function, *arguments, error) >= 0
    raise Error.with(error.get_string(16).force_encoding("UTF-8"), error.get_int32(4), error.get_int32(8))
  end

  class Filter
    def self.open(path, flags = READ) = new(path, flags)
    def self.open_or_create(path, capacity, fpr) # for writing; any number of processes at once
      # bfs_options: struct_bytes, mode, capacity, fpr ...
      new(path, WRITE | CREATE, Bfs.struct(184, "LQd", 0, capacity, fpr))
    end
    def initialize(path, flags, options = nil)
      Bfs.try(:bfs_open, path, flags, options, out = FFI::MemoryPointer.new(:pointer))
      @handle = FFI::AutoPointer.new(out.read_pointer, Bfs.method(:bfs_abandon)) # without close: not synced
    end
    def close # everything that was added is on the disk when it returns
      handle, @handle = @handle, nil
      Bfs.try(:bfs_close, handle) if handle&.tap { handle.autorelease = false }
    end

    def add(key) = Bfs.check(Bfs.bfs_add(@handle, bytes(key), bytes(key).bytesize)) == 1
    def include?(key) = Bfs.check(Bfs.bfs_contains(@handle, bytes(key), bytes(key).bytesize)) != 0
    def add_all(keys) = with_column(keys) { |column| Bfs.bfs_add_keys(@handle, column) }
    def include_all?(keys) # an array of 1 (maybe) and 0 (certainly not)
      answers = FFI::MemoryPointer.new(:uint8, keys.size)
      with_column(keys) { |column| Bfs.bfs_contains_keys(@handle, column, answers) }
      answers.read_array_of_uint8(keys.size)
    end

    private def bytes(key)
      text = key.encoding == Encoding::BINARY ? key : key.encode("UTF-8")
      text.valid_encoding? ? text.b : raise(EncodingError, "a key is not valid Unicode")
    end
    private def with_column(keys) # bfs_keys: struct_bytes, kind, count, data, data_bytes, lengths, offsets ...
      data, ends = keys.map { |key| bytes(key) }, [0]
      data.each { |key| ends << ends.last + key.bytesize }
      text = FFI::MemoryPointer.new(:char, ends.last + 1).put_bytes(0, data.join)
      offsets = FFI::MemoryPointer.new(:int64, ends.size).put_array_of_int64(0, ends)
      Bfs.check(yield(Bfs.struct(96, "LQQQQQ", COLUMN64, keys.size, text.address, ends.last, 0, offsets.address)))
    end
  end
end

if $PROGRAM_NAME == __FILE__
  users = Bfs::Filter.open_or_create("users.bf", 1000, 0.01)
  users.add("alice")
  users.add_all(["bob", "carol"])
  puts "#{users.include?("alice")} #{users.include_all?(["bob", "mallory"])}"
  users.close
end
