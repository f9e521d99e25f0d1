"""Cases of with_trigram_job.py: collectives on tensors of one's own, against torch.distributed and against sums."""

import torch
import torch.distributed as dist

from job_case import BACKEND, JobCase
from trigram import comm


class Comm(JobCase):
    def tensor(self, rank, *shape, dtype=torch.float32):
        """Whole numbers, so that every order of adding gives the same."""
        generator = torch.Generator().manual_seed(rank)
        return torch.randint(-9, 9, shape, generator=generator).to(dtype)

    def case_collectives(self):
        world = comm.join(backend=BACKEND)
        n, me = world.size, world.rank
        assert (me, n) == (self.rank, self.ranks)
        all_of_them = [self.tensor(rank, 3, 7) for rank in range(n)]
        total = torch.stack(all_of_them).sum(0)

        def same(a, b):
            assert a.dtype == b.dtype and torch.equal(a, b), (a, b)

        same(world.all_reduce(self.tensor(me, 3, 7)), total)
        same(world.all_reduce(self.tensor(me, 3, 7), op="mean"), total / n)
        same(world.all_reduce(self.tensor(me, 3, 7), op="max"), torch.stack(all_of_them).max(0).values)
        same(world.all_reduce(self.tensor(me, 5, dtype=torch.int64), op="min"),
             torch.stack([self.tensor(rank, 5, dtype=torch.int64) for rank in range(n)]).min(0).values)
        x = self.tensor(me, 3, 7)
        same(world.reduce_scatter(x).clone(), world.chunk(total.clone()))
        chunks = torch.zeros(21)
        world.chunk(chunks).copy_(world.chunk(total))
        same(world.all_gather_chunks(chunks), total.view(-1))
        sizes = [rank + 1 for rank in range(n)]
        parts = [self.tensor(rank, size) if rank == me else torch.zeros(size) for rank, size in enumerate(sizes)]
        for rank, part in enumerate(world.all_gather(parts)):
            same(part, self.tensor(rank, sizes[rank]))
        received = world.all_to_all([torch.full((2,), 10.0 * me + rank) for rank in range(n)], [torch.zeros(2) for _ in range(n)])
        same(torch.stack(list(received)), torch.tensor([[10.0 * rank + me] * 2 for rank in range(n)]))
        same(world.broadcast(self.tensor(me, 4), root=n - 1), self.tensor(n - 1, 4))
        reduced = world.reduce(self.tensor(me, 4), root=1)
        if me == 1:
            same(reduced, torch.stack([self.tensor(rank, 4) for rank in range(n)]).sum(0))
        gathered = world.gather(self.tensor(me, 4), [torch.zeros(4) for _ in range(n)] if me == 0 else [])
        assert me != 0 or all(torch.equal(part, self.tensor(rank, 4)) for rank, part in enumerate(gathered))
        same(world.scatter(torch.zeros(4), [self.tensor(50 + rank, 4) for rank in range(n)] if me == 1 else [], root=1), self.tensor(50 + me, 4))
        if me == 0:
            world.send(self.tensor(7, 6), to=1)
        elif me == 1:
            same(world.receive(torch.zeros(6), source=0), self.tensor(7, 6))
        world.barrier()
        world.leave()
        self.raises(RuntimeError, "the communicator has ended; nothing can follow", world.barrier)

    def case_begun_collectives_run_beside(self):
        world = comm.join(backend=BACKEND)
        first, second = self.tensor(world.rank, 1000), self.tensor(world.rank, 5)
        handles = [world.begin_all_reduce(first), world.begin_broadcast(second, root=1)]
        beside = world.all_reduce(torch.ones(3))
        for handle in handles:
            handle.wait()
            assert handle.done()
            handle.wait()
        assert torch.equal(beside, torch.full((3,), float(world.size)))
        assert torch.equal(first, torch.stack([self.tensor(rank, 1000) for rank in range(world.size)]).sum(0))
        assert torch.equal(second, self.tensor(1, 5))
        world.begin_barrier()  # whose handle nobody keeps
        world.leave()

    def case_groups(self):
        world = comm.join(backend=BACKEND)
        pair = world.split(color=world.rank % 2, key=-world.rank)
        members = sorted((rank for rank in range(world.size) if rank % 2 == world.rank % 2), reverse=True)
        assert (pair.size, members[pair.rank]) == (len(members), world.rank)
        begun = torch.ones(1)
        handle = pair.begin_all_reduce(begun)
        assert float(pair.all_reduce(torch.tensor([float(world.rank)]))) == sum(members)
        handle.wait()
        assert float(begun) == len(members)
        world.leave()

    def case_gradients_of_collectives(self):
        """The sum over ranks of what each does with the results is what is differentiated; here all of it is done at once."""
        world = comm.join(backend=BACKEND)
        n, me = world.size, world.rank
        weights = [self.tensor(100 + rank, n, 3) for rank in range(n)]

        def alone(function):
            """All ranks' inputs in this process, and this rank's gradient."""
            inputs = [self.tensor(rank, n, 3).requires_grad_() for rank in range(n)]
            sum(function(inputs, rank) for rank in range(n)).backward()
            return inputs[me].grad

        x = self.tensor(me, n, 3).requires_grad_()
        (comm.sum_over_ranks(world, x) * weights[me]).pow(2).sum().backward()
        assert torch.equal(x.grad, alone(lambda inputs, rank: (sum(inputs) * weights[rank]).pow(2).sum()))
        x.grad = None
        (comm.gathered(world, x).sum(1) * weights[me]).pow(2).sum().backward()
        assert torch.equal(x.grad, alone(lambda inputs, rank: (torch.stack(inputs).sum(1) * weights[rank]).pow(2).sum()))
        x.grad = None
        (comm.exchanged(world, x * 2) * weights[me]).pow(2).sum().backward()
        assert torch.equal(x.grad, alone(lambda inputs, rank: (torch.stack([2 * one[rank] for one in inputs]) * weights[rank]).pow(2).sum()))
        self.raises(ValueError, "x has shape [1, 3]; its first dimension is one entry for each of", lambda: comm.exchanged(world, torch.zeros(1, 3)))
        world.leave()

    def case_tensors_that_cannot_be_sent(self):
        world = comm.join(backend=BACKEND)
        for text, call in (("is on meta", lambda: world.all_reduce(torch.zeros(2, device="meta"))),
                           ("has gaps between its elements", lambda: world.all_reduce(torch.zeros(4, 4)[:, :2])),
                           ("is of torch.float64; give one type, of torch.float32", lambda: world.all_reduce(torch.zeros(2).double())),
                           ("give one for each rank", lambda: world.all_gather([torch.zeros(2)])),
                           ("there is no rank 99 among", lambda: world.broadcast(torch.zeros(2), root=99)),
                           ("unknown reduction 'product'; use sum, mean, min or max", lambda: world.all_reduce(torch.zeros(2), op="product")),
                           ("exchange is given (Tensor, int); a message is (rank, tensor)",
                            lambda: world.exchange([(torch.zeros(2), 0)], [(0, torch.zeros(2))])),
                           ("the root, rank 0, has one for each", lambda: world.gather(torch.zeros(2), [torch.zeros(2)] * 7))):
            self.raises(ValueError, text, call)
        assert float(world.all_reduce(torch.ones(1))) == world.size == dist.get_world_size()
        world.leave()
