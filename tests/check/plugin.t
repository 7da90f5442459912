#!/usr/bin/perl
# elastobench check on a plug-in whose options are called as those of built-in solvers.
use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my ($out) = is_code(0, 'options mean what the plug-in says', 'check', 'own-words', '--plugin', plugin('own_words'), '--seed', '1');
unlike($out, qr/FAILED/, 'every figure of a sound solver holds');
like($out, qr/own-words\/$_/, "$_ is checked") for qw(momentum script threads time-order conformance);

done_testing;
