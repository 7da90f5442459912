# Pairs of blocks, measured and told: `strong` of them of one scene each, then `weak` of as many elements a rank. cores: of the machine, most: ranks.
curve(k, told) = 2*k+told
stats data using 1:2 nooutput
set multiplot
set label 2 title at screen 0.5, screen 0.97 center noenhanced font ",15"
unset title
set xlabel "ranks"
set logscale xy
eval tics125("y")
set xtics () logscale
do for [e=0:20] { if (2**e <= most) { set xtics add (sprintf("%d", 2**e) 2**e) } }
set xrange [0.8:1.25*most]
set yrange [STATS_min_y/1.4:STATS_max_y*1.4]
set offsets 0, 0, 0, 0
set tmargin at screen 0.74
set bmargin at screen 0.13
set key inside left top Left reverse vertical maxrows 4 noenhanced samplen 2 spacing 1.1 font ",11"
if (most > cores) { set arrow from first cores, graph 0 to first cores, graph 1 nohead lc rgb "#9ca3af" dt 3 }
set lmargin at screen 0.10
set rmargin at screen 0.50
set ylabel "seconds an iteration of Newton's"
set key at screen 0.10, screen 0.91 title "strong: elements" left
if (strong > 0) {
  plot for [k=0:strong-1] data index curve(k,0) using 1:2 with linespoints ls (k%styles)+1 ps 0.9 title columnheader(2), \
       for [k=0:strong-1] data index curve(k,1) using 1:2 with linespoints lc rgb word(colors,k%styles+1) dt 2 pt 6 ps 1.3 notitle
}
unset label 2
set lmargin at screen 0.58
set rmargin at screen 0.98
unset ylabel
set key at screen 0.58, screen 0.91 title "weak: elements a rank" left
if (weak > 0) {
  plot for [k=0:weak-1] data index curve(strong+k,0) using 1:2 with linespoints ls (k%styles)+1 ps 0.9 title columnheader(2), \
       for [k=0:weak-1] data index curve(strong+k,1) using 1:2 with linespoints lc rgb word(colors,k%styles+1) dt 2 pt 6 ps 1.3 notitle
}
unset multiplot
