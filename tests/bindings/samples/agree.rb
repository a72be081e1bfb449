# The program `agree` (languages.py) of Ruby, by the sample.
require "./bf"

command, path, what, count = ARGV
keys = (0...count.to_i).map { |number| "#{what}-#{number}" }
case command
when "create" then Bfs::Filter.open_or_create(path, what.to_i, 0.01).close
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
