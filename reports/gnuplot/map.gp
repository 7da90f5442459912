# A cell a line: column and row, value, what is written on it, in which colour. columns, rows, zname, logz and the tics are given.
set xlabel xname noenhanced
set ylabel yname noenhanced
set cblabel zname noenhanced offset 0.8,0
set xrange [-0.5:columns-0.5] noextend
set yrange [-0.5:rows-0.5] noextend
unset key
unset grid
set border 0
set tics scale 0
set palette defined (0 "#440154", 1 "#482878", 2 "#3e4a89", 3 "#31688e", 4 "#26828e", 5 "#1f9e89", \
  6 "#35b779", 7 "#6ece58", 8 "#b5de2b", 9 "#fde725")
set format cb "%g"
if (logz) set logscale cb; set format cb "10^{%L}"
plot data using 1:2:(0.49):(0.49):3 with boxxyerror lc palette fs solid noborder, \
  data using 1:2:4:5 with labels textcolor rgb variable font ",12" noenhanced
