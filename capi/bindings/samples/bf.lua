-- bfstore from LuaJIT, on one page. Debian: luajit. It needs libbfstore.so.0 where the loader finds it.
--   luajit bf.lua create users.bf 1000 && luajit bf.lua add users.bf user 10 && luajit bf.lua ask users.bf user 12
local ffi = require "ffi"

ffi.cdef [[ // the part of capi/bfstore.h that is used here
  typedef struct bfs_filter bfs_filter;
  typedef struct { uint32_t struct_bytes; int32_t code, os_errno; uint32_t reserved; char message[496]; } bfs_error;
  typedef struct {
    uint32_t struct_bytes, mode; uint64_t flags, capacity; double fpr, bits_per_key; uint64_t max_bytes, num_bits;
    uint32_t num_probes, layout, hash, reserved; uint64_t seed; const char* like; const void* note; uint64_t note_bytes;
    const void* key; uint64_t key_bytes; uint32_t lock_timeout_ms, writeback_check_ms; uint8_t file_id[16];
    const uint32_t* seeds; uint64_t num_seeds;
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
]]
local lib = ffi.load("libbfstore.so.0")
local READ, WRITE, COLUMN64 = 1, 2, 5

local Error = {__name = "bfs.Error", __tostring = function(self) return self.message end} -- what error() is given
local function fail(code, os_errno, message)
  error(setmetatable({code = code, os_errno = os_errno, message = message}, Error), 0)
end
local function checked(code)
  code = tonumber(code)
  return code < 0 and fail(code, 0, ffi.string(lib.bfs_strerror(code))) or code
end
local function try(call, ...)
  local failure = ffi.new("bfs_error", {struct_bytes = ffi.sizeof("bfs_error")})
  local arguments = {...}
  arguments[#arguments + 1] = failure
  if call(unpack(arguments)) ~= 0 then fail(failure.code, failure.os_errno, ffi.string(failure.message)) end
end

local Filter = {}
Filter.__index = Filter

local function made(call, path, how)
  local out = ffi.new("bfs_filter*[1]")
  try(call, path, how, out)
  return setmetatable({handle = ffi.gc(out[0], lib.bfs_abandon)}, Filter) -- where close was forgotten: not synced
end
function Filter.create(path, capacity, fpr)
  local options = {struct_bytes = ffi.sizeof("bfs_options"), capacity = capacity, fpr = fpr}
  return made(lib.bfs_create, path, ffi.new("bfs_options", options))
end
function Filter.open(path, flags) return made(lib.bfs_open, path, flags or READ) end
function Filter:close()
  local handle = self.handle
  self.handle = nil
  if handle then try(lib.bfs_close, ffi.gc(handle, nil)) end
end

-- A key is the bytes of a string: UTF-8, if the program's text is.
function Filter:add(key) return checked(lib.bfs_add(self.handle, key, #key)) == 1 end
function Filter:contains(key) return checked(lib.bfs_contains(self.handle, key, #key)) ~= 0 end

-- Calls use(column): the bytes of all keys, and where each begins and the last one ends.
local function with_column(keys, use)
  local data, offsets = table.concat(keys), ffi.new("int64_t[?]", #keys + 1)
  for i, key in ipairs(keys) do offsets[i] = offsets[i - 1] + #key end
  local column = ffi.new("bfs_keys", {struct_bytes = ffi.sizeof("bfs_keys"), kind = COLUMN64, count = #keys,
    data = data, data_bytes = #data, offsets = offsets})
  return checked(use(column))
end
function Filter:add_all(keys)
  return with_column(keys, function(column) return lib.bfs_add_keys(self.handle, column) end)
end
function Filter:contains_all(keys) -- an array from 0 on, of 1 (maybe) and 0 (certainly not)
  local answers = ffi.new("uint8_t[?]", #keys)
  with_column(keys, function(column) return lib.bfs_contains_keys(self.handle, column, answers) end)
  return answers
end

local command, path, what, count = unpack(arg)
local even, odd, keys = {}, {}, {}
for number = 0, (tonumber(count) or 0) - 1 do
  keys[number + 1] = what .. "-" .. number
  table.insert(number % 2 == 0 and even or odd, keys[number + 1])
end
if command == "create" then
  Filter.create(path, tonumber(what), 0.01):close()
elseif command == "add" then
  local filter = Filter.open(path, WRITE)
  for _, key in ipairs(even) do filter:add(key) end
  filter:add_all(odd)
  filter:close()
elseif command == "ask" then
  local filter, single = Filter.open(path), {}
  local batch = filter:contains_all(keys)
  for i, key in ipairs(keys) do
    single[i] = filter:contains(key) and 1 or 0
    assert(single[i] == batch[i - 1], "one by one and as a batch are not the same")
  end
  print(table.concat(single))
elseif command == "fail" then
  local opened, failure = pcall(Filter.open, path)
  assert(not opened, "opened")
  print(failure.code .. " " .. failure.os_errno .. " " .. getmetatable(failure).__name)
end
