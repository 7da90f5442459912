/* A shared object that is no plug-in. */
extern const int elastobench_answer;
const int elastobench_answer = 42;
