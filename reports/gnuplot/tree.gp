# Block 0: bars (top, bottom, left, right, log10 of flops); block 1: rows (top, bottom, % of all flops). series: depths.
set multiplot
set title font ",14"
set tmargin at screen 0.86
set bmargin at screen 0.27
set yrange [series:0]
unset grid
unset key
set palette defined (0 "#440154", 1 "#482878", 2 "#3e4a89", 3 "#31688e", 4 "#26828e", 5 "#1f9e89", \
  6 "#35b779", 7 "#6ece58", 8 "#b5de2b", 9 "#fde725")
set colorbox horizontal user origin screen 0.09, screen 0.10 size screen 0.61, screen 0.025
set autoscale cbfix
set cbtics 1 format "10^{%g}" font ",11"
set cblabel "flops of a front" offset 0,0.6
set lmargin at screen 0.09
set rmargin at screen 0.70
set xlabel "nodes in the order of elimination; a bar covers its whole subtree" offset 0,0.4
set ylabel "depth"
set xrange [0:*] noextend
set ytics out
plot data index 0 using (($3+$4)/2):(($1+$2)/2):3:4:1:2:5 with boxxyerror lc palette fs solid noborder
unset title
unset colorbox
unset ylabel
set ytics format ""
set lmargin at screen 0.73
set rmargin at screen 0.97
set xrange [0:*]
set xlabel "flops at that depth (% of all)"
set grid x lc rgb "#e2e6ea" lt 1
plot data index 1 using ($3/2):(($1+$2)/2):(0):3:1:2 with boxxyerror lc rgb "#2563eb" fs solid 0.75 noborder
unset multiplot
