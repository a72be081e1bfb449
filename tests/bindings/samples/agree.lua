-- The program `agree` (languages.py) of LuaJIT, by the sample.
local Filter = require "bf"

local command, path, what, count = unpack(arg)
local even, odd, keys = {}, {}, {}
for number = 0, (tonumber(count) or 0) - 1 do
  keys[number + 1] = what .. "-" .. number
  table.insert(number % 2 == 0 and even or odd, keys[number + 1])
end
if command == "create" then
  Filter.open_or_create(path, {capacity = tonumber(what), fpr = 0.01}):close()
elseif command == "add" then
  local filter = Filter.open(path, Filter.WRITE)
  for _, key in ipairs(even) do filter:add(key) end
  filter:add_all(odd)
  filter:close()
elseif command == "ask" then
  local filter, single = Filter.open(path), {}
  for i, key in ipairs(keys) do single[i] = filter:contains(key) and 1 or 0 end
  assert(table.concat(single) == filter:contains_all(keys), "one by one and as a batch are not the same")
  print(table.concat(single))
elseif command == "fail" then
  local opened, failure = pcall(Filter.open, path)
  assert(not opened, "opened")
  print(failure.code .. " " .. failure.os_errno .. " " .. getmetatable(failure).__name)
end
