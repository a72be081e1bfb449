-- Tells nginx, with OpenResty's Lua module, whether a key is certainly absent from a filter file. nginx.conf shows the
-- use.  Every doubt is "not certainly absent": no library, no file, a file that is damaged, or being replaced or
-- recovered.
local ok, ffi = pcall(require, "ffi")
ok = ok and pcall(ffi.cdef, [[ // the part of bfstore.h that is used here
  typedef struct bfs_filter bfs_filter;
  typedef struct {
    uint32_t struct_bytes; char before[52]; uint32_t lock_timeout_ms; char after[124]; // the fields left out stay zero
  } bfs_options;
  int32_t bfs_open(const char* path, uint64_t flags, const bfs_options* options, bfs_filter** out, void* error);
  int32_t bfs_close(bfs_filter* filter, void* error);
  int32_t bfs_contains(const bfs_filter* filter, const char* key, size_t key_bytes);
  int32_t bfs_health(const bfs_filter* filter);
  int32_t bfs_is_current(const bfs_filter* filter, void* error);
  const char* bfs_code_name(int32_t code);
]])
local loaded, lib = pcall(function() return ffi.load "libbfstore.so.0" end)
local READ, GUARD, LOCK_NO_WAIT = 0x1, 0x80, 4294967294 -- the event loop must not wait, nor die of a truncation

local filter, reason = nil, nil

local function note(now)
  if now ~= reason then
    ngx.log(now and ngx.WARN or ngx.NOTICE, "filter: ", now and now .. ": every request passes" or "in use")
    reason = now
  end
end

-- BFS_FOLLOW does not suffice: it follows only to a file with the seed of the old one.
local function look(path)
  if filter and lib.bfs_is_current(filter, nil) == 1 and lib.bfs_health(filter) == 0 then return end
  if filter then lib.bfs_close(filter, nil) end
  filter = nil
  local how = ffi.new("bfs_options", {lock_timeout_ms = LOCK_NO_WAIT})
  how.struct_bytes = ffi.sizeof(how)
  local out = ffi.new "bfs_filter*[1]"
  local code = lib.bfs_open(path, READ + GUARD, how, out, nil)
  if code == 0 then filter = out[0] end
  note(code ~= 0 and path .. ": " .. ffi.string(lib.bfs_code_name(code)) or nil)
end

local M = {}

-- Call this in each worker: the workers' maps of the file share its memory.  Checks every `seconds` whether the file is
-- current.
function M.watch(path, seconds)
  if not (ok and loaded) then return note(tostring(lib)) end
  look(path)
  ngx.timer.every(seconds, function(premature) if not premature then look(path) end end)
end

-- Checks the path after the lookup, since another program may have moved a file to it: so a no always comes from the
-- file at the path.
function M.certainly_absent(key)
  if filter == nil or lib.bfs_contains(filter, key, #key) ~= 0 then return false end
  return lib.bfs_is_current(filter, nil) == 1
end

return M
