/* Prints the simulated seconds of one MPI_Allreduce of argv[1] floats. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = atoi(argv[1]);
  float* in = calloc(count, sizeof(float));
  float* out = calloc(count, sizeof(float));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  const double mine = MPI_Wtime() - begin;
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  free(in);
  free(out);
  return 0;
}
