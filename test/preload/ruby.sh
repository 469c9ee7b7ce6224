#!/bin/bash
# ruby: strings and hashes by malloc, a garbage collector that gives much back at once, threads, forks.
. "$(dirname "$0")/lib.sh"
script_need ruby
preload_binds ruby --disable-gems -e 1
cat >"$scratch/work.rb" <<'RUBY'
require 'digest'
count = Hash.new(0)
lists = Array.new(97) { [] }
1.upto(80000) do |i|
  word = Digest::MD5.hexdigest(i.to_s)[0, 2 + i % 9]
  count[word] += 1
  lists[i % 97] << word * (1 + i % 5)
end
puts count.size, Digest::MD5.hexdigest(count.sort.map { |k, v| "#{k}=#{v}" }.join(','))
puts Digest::MD5.hexdigest(lists.flatten.sort_by { |w| [w.size, w] }.join('|'))
text = lists[0..40].flatten.join(' ')
puts text.scan(/([a-f]+)(\d{2,})/).size, Digest::MD5.hexdigest(text.gsub(/([a-f])(\d)/, '\2\1'))
big = +''
5000.times { |i| big << (65 + i % 26).chr * 1000 }
puts big.size, Digest::MD5.hexdigest(big.reverse)
10.times { |i| Array.new(30000) { |j| "#{i} #{j}" * 3 }; GC.start }
threads = 6.times.map { |n| Thread.new { Array.new(3000) { |i| [i, 'x' * (i % 2000)] }.to_h.values.join.size * n } }
puts threads.map(&:value).inspect
5.times do |n|
  reader, writer = IO.pipe
  pid = fork { writer.puts count.keys.sort.first(1000 * n).join.size; exit! 0 }
  Process.wait pid
  writer.close
  puts reader.read
end
RUBY
succeeds "a program" ruby --disable-gems "$scratch/work.rb"
succeeds "compaction" ruby --disable-gems -e '
    a = Array.new(200_000) { |i| "string number #{i}" }; a.reject!.with_index { |_, i| i % 3 != 0 }
    GC.compact if GC.respond_to?(:compact); puts a.size, a.last'
compare "an error" ruby --disable-gems -e 'a = ["x"] * 100000; raise a.size.to_s'
preload_done
