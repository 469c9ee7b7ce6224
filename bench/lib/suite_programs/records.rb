# Ruby's part of bench/run programs: hashes and arrays of strings, made, sorted, joined and collected.

random = 12345
kept = {}
6.times do |turn|
  records = Array.new(30_000) do |i|
    random = (random * 1_103_515_245 + 12_345) & 0x7fffffff
    { name: "record-#{i}", tags: ["t#{random % 97}", "g#{random % 1009}"], text: 'x' * (random >> 8 & 63) }
  end
  index = Hash.new { |hash, tag| hash[tag] = [] }
  records.each { |record| record[:tags].each { |tag| index[tag] << record } }
  kept[turn % 2] = index.transform_values { |members| members.sort_by { |m| [m[:text].size, m[:name]] } }
  text = records.map { |record| [record[:name], *record[:tags], record[:text]].join(',') }.join("\n").gsub(/x{5,9}/, '-')
  puts "#{text.split(/[,\n]/).tally.size} #{text.size}"
end
puts kept.sum { |_, index| index.size }
