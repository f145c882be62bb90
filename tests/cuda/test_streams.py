"""Streams, events and the device: they are there, and nothing waits."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda.devices import CudaAPIError, CudaSupportError


@cuda.jit
def fill(a, value):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = value


def test_streams_have_numbers_of_their_own():
    first, second = cuda.stream(), cuda.stream()
    assert len({int(first), int(second), 0, 1, 2}) == 5
    assert int(cuda.default_stream()) == 0
    assert int(cuda.legacy_default_stream()) == 1
    assert int(cuda.per_thread_default_stream()) == 2
    assert int(cuda.external_stream(0x1234)) == 0x1234
    with pytest.raises(RuntimeError, match="not 0"):
        cuda.external_stream(0)


def test_a_stream_takes_launches_and_transfers():
    stream, host = cuda.stream(), np.zeros(8)
    with stream.auto_synchronize():
        device = cuda.to_device(host, stream)
        fill[1, 8, stream](device, 3.0)
        device.copy_to_host(host, stream)
    assert host.tolist() == [3.0] * 8
    assert device.__cuda_array_interface__["stream"] == int(stream)
    called = []
    stream.add_callback(lambda *facts: called.append(facts), "arg")
    assert called == [(stream, 0, "arg")]


def test_a_stream_can_be_awaited():
    async def wait():
        return await cuda.stream().async_done()

    with ThreadPoolExecutor(1) as pool:  # in this thread a browser of other tests may have a loop
        assert isinstance(pool.submit(asyncio.run, wait()).result(), cuda.Stream)


def test_events_keep_the_models_time():
    device = cuda.to_device(np.zeros(64))
    start, end = cuda.event(), cuda.event()
    start.record()
    fill[2, 32](device, 1.0)
    between = cuda.last.time
    fill[2, 32](device, 2.0)
    end.record()
    end.synchronize()
    assert end.query()
    units = between + cuda.last.time
    assert start.elapsed_time(end) == pytest.approx(units * 30.846e-9)
    assert cuda.event_elapsed_time(start, end) == start.elapsed_time(end)


def test_events_without_a_time_are_refused():
    recorded, fresh, untimed = cuda.event(), cuda.event(), cuda.event(timing=False)
    recorded.record()
    with pytest.raises(CudaAPIError, match="recorded"):
        cuda.event_elapsed_time(recorded, fresh)
    with pytest.raises(CudaAPIError, match="timing=False"):
        cuda.event_elapsed_time(recorded, untimed)


def test_there_is_one_device(capsys):
    assert cuda.is_available()
    assert cuda.cuda_error() is None
    assert len(cuda.gpus) == len(cuda.list_devices()) == 1
    with cuda.gpus[0] as context:
        assert context.device is cuda.get_current_device() is cuda.select_device(0)
    assert [device.id for device in cuda.list_devices()] == [0]
    assert cuda.current_context().get_memory_info().free > 0
    assert cuda.detect()
    assert "Found 1 CUDA devices" in capsys.readouterr().out
    with pytest.raises(CudaSupportError, match="no device 1"):
        cuda.select_device(1)


def test_what_is_synchronous_anyway_does_nothing():
    cuda.synchronize()
    cuda.profile_start()
    cuda.profile_stop()
    cuda.close()
    with cuda.defer_cleanup(), cuda.profiling(), cuda.pinned(np.zeros(3)):
        pass
    with cuda.mapped(np.zeros(3)) as device:
        device[0] = 1


def test_the_device_describes_its_machine():
    device = cuda.get_current_device()
    assert (device.WARP_SIZE, device.MULTIPROCESSOR_COUNT) == (32, 132)
    with cuda.machine(mm.HMM(dmms=3, width=8, global_latency=5)):
        assert (device.WARP_SIZE, device.MULTIPROCESSOR_COUNT) == (8, 3)
        assert "width=8" in device.name
    assert device.WARP_SIZE == 32
