-- bfstore from LuaJIT, a page to copy. Debian: luajit. It needs libbfstore.so.0 where the loader finds it.
--   luajit bf.lua    # prints: true 10
local ffi = require "ffi"
ffi.cdef [[ // the parts of capi/bfstore.h that are used here; the fields in `rest` stay zero
  typedef struct bfs_filter bfs_filter;
  typedef struct { uint32_t struct_bytes; int32_t code, os_errno; uint32_t rule; char message[496]; } bfs_error;
  typedef struct { uint32_t struct_bytes, mode; uint64_t capacity; double fpr; char rest[160]; } bfs_options;
  typedef struct { const char* data; size_t bytes; } bfs_key;
  typedef struct { uint32_t struct_bytes, kind; uint64_t count; const bfs_key* data; char rest[72]; } bfs_keys;
  const char* bfs_strerror(int32_t code);
  int32_t bfs_open(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, bfs_error* error);
  int32_t bfs_close(bfs_filter* filter, bfs_error* error);
  void bfs_abandon(bfs_filter* filter);
  int32_t bfs_add(bfs_filter* filter, const char* key, size_t key_bytes);
  int32_t bfs_contains(const bfs_filter* filter, const char* key, size_t key_bytes);
  int64_t bfs_add_keys(bfs_filter* filter, const bfs_keys* keys);
  int64_t bfs_contains_keys(const bfs_filter* filter, const bfs_keys* keys, uint8_t* answers);
]]
local lib = ffi.load("libbfstore.so.0")
local PAIRS = 2
local Filter, CREATE = {READ = 1, WRITE = 2}, 8
Filter.__index = Filter

local Error = {__name = "bfs.Error", __tostring = function(self) return self.message end} -- the argument of error()
local function fail(code, os_errno, message)
  error(setmetatable({code = code, os_errno = os_errno, message = message}, Error), 0)
end
local function checked(code)
  return code < 0 and fail(tonumber(code), 0, ffi.string(lib.bfs_strerror(code))) or tonumber(code)
end
local function sized(struct, fields)
  fields.struct_bytes = ffi.sizeof(struct)
  return ffi.new(struct, fields)
end
local function opened(path, flags, options)
  local out, failure = ffi.new("bfs_filter*[1]"), sized("bfs_error", {})
  if lib.bfs_open(path, flags, options, out, failure) < 0 then
    fail(failure.code, failure.os_errno, ffi.string(failure.message))
  end
  return setmetatable({handle = ffi.gc(out[0], lib.bfs_abandon)}, Filter) -- without close: not synced
end

function Filter.open(path, flags) return opened(path, flags or Filter.READ) end
function Filter.open_or_create(path, size) -- for writing; any number of processes at once
  return opened(path, Filter.WRITE + CREATE, sized("bfs_options", size))
end
function Filter:close() -- everything that was added is on the disk when it returns
  local handle, failure = self.handle, sized("bfs_error", {})
  self.handle = nil
  if handle and lib.bfs_close(ffi.gc(handle, nil), failure) ~= 0 then
    fail(failure.code, failure.os_errno, ffi.string(failure.message))
  end
end

-- A key is the bytes of a string: UTF-8, if the program's text is.
function Filter:add(key) return checked(lib.bfs_add(self.handle, key, #key)) == 1 end
function Filter:contains(key) return checked(lib.bfs_contains(self.handle, key, #key)) ~= 0 end
local function with_pairs(keys, call, handle, ...)
  local list = ffi.new("bfs_key[?]", #keys)
  for i, key in ipairs(keys) do list[i - 1].data, list[i - 1].bytes = key, #key end -- `keys` keeps the strings
  return checked(call(handle, sized("bfs_keys", {kind = PAIRS, count = #keys, data = list}), ...))
end
function Filter:add_all(keys) return with_pairs(keys, lib.bfs_add_keys, self.handle) end
function Filter:contains_all(keys) -- a string: 1 is maybe, 0 is certainly not
  local answers = ffi.new("uint8_t[?]", #keys)
  with_pairs(keys, lib.bfs_contains_keys, self.handle, answers)
  return (ffi.string(answers, #keys):gsub(".", function(answer) return answer:byte() end))
end

if ... then return Filter end -- require "bf"
local users = Filter.open_or_create("users.bf", {capacity = 1000, fpr = 0.01})
users:add("alice")
users:add_all {"bob", "carol"}
print(tostring(users:contains("alice")) .. " " .. users:contains_all {"bob", "mallory"})
users:close()
