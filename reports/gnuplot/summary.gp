# Bars to the right, rows of scene and class from the top down; those of a row that are there stand side by side.
set lmargin at screen (margin + 24) / 760.0
set rmargin 4
set bmargin at screen 60.0 / height
set key tmargin left horizontal maxcols 1 reverse Left font ",10"
set xlabel "median wall time a step (ms)"
set logscale x
set xrange [least:*]
set yrange [rows-0.5:-0.5]
set ytics scale 0 noenhanced font ",9"
unset mytics
set grid noytics
set style fill solid 0.9 border rgb "white"
lines(name) = name[1:strstrt(name, ": ")-1] . "\n" . name[strstrt(name, ": ")+2:*]
bars = 0
there(c) = valid(c) ? 1 : 0
count(n) = (bars = sum [j=2:series+1] there(j), bars < 2 ? 2 : bars)
before(c) = (c > 2 ? sum [j=2:c-1] there(j) : 0)
thick(n) = 0.84 / count(n)
low(c) = $0 + thick(0) * (before(c) - 0.5 * bars)
of(k) = int(word(shown, k))
plot for [k=1:words(shown)] data using (column(of(k))):0:(least):(column(of(k))):(low(of(k))):(low(of(k)) + thick(0)):ytic(lines(stringcolumn(1))) with boxxyerror ls (of(k)-2)%styles+1 title columnheader(of(k))
