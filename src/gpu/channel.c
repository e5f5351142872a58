/*
 * DRAM's channels. Each has a mailbox (mailbox.c), so that it may run apart from L2 as SMs run
 * apart from memory. A channel posts a reply when it gives the last column command. The data are
 * there later, by the transfer and the controller's fixed time.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/state.h"
#include "util/error.h"

static void on_out(void *ctx, uint64_t arg)
{
    const struct mem_request *request = (const struct mem_request *)(uintptr_t)arg;
    (void)ctx;
    request->reply(request->ctx, (uintptr_t)request);
}

static void channel_reply(void *self, struct mem_request *request, uint64_t at_ps)
{
    request->outlet = NULL;
    gpu_mailbox_reply(&((struct gpu_channel *)self)->mailbox, request, at_ps);
}

static int channel_create(struct gpu *gpu, struct gpu_channel *channel, uint32_t number)
{
    const struct model *model = gpu->model;
    int rc = engine_create(&channel->engine);
    if (rc < 0) {
        return rc;
    }
    engine_join(channel->engine, gpu->engine);
    uint32_t source = gpu->next_source++;
    rc = mem_dram_create(&channel->dram, &model->dram, channel->engine, &gpu->clock, source);
    if (rc < 0) {
        return rc;
    }
    mem_dram_set_channel(channel->dram, number);
    channel->mailbox = (struct gpu_mailbox){.upper = gpu->engine,
                                            .lower = channel->engine,
                                            .reply_source = source,
                                            .out = on_out,
                                            .outlet = {.reply = channel_reply, .self = channel},
                                            .asked = &gpu->notes->asked_channels,
                                            .number = number};
    channel->port = mem_dram_port(channel->dram);
    gpu_mailbox_attach(&channel->mailbox, &channel->port, gpu->next_source++);
    return 0;
}

int gpu_channels_create(struct gpu *gpu)
{
    size_t bytes = gpu->model->dram.channels * sizeof *gpu->channel;
    gpu->channel = aligned_alloc(_Alignof(struct gpu_channel), bytes);
    if (!gpu->channel) {
        return error_memory();
    }
    memset(gpu->channel, 0, bytes); /* it may be destroyed half made */
    gpu->busy_channels = calloc(gpu->model->dram.channels, sizeof *gpu->busy_channels);
    gpu->answering = calloc(gpu->model->dram.channels, sizeof *gpu->answering);
    gpu->channel_next_ps = calloc(gpu->model->dram.channels, sizeof *gpu->channel_next_ps);
    if (!gpu->busy_channels || !gpu->answering || !gpu->channel_next_ps) {
        return error_memory();
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < gpu->model->dram.channels; i++) {
        rc = channel_create(gpu, &gpu->channel[i], i);
    }
    return rc;
}

void gpu_channels_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->channel && i < gpu->model->dram.channels; i++) {
        gpu_mailbox_free(&gpu->channel[i].mailbox);
        mem_dram_destroy(gpu->channel[i].dram);
        engine_destroy(gpu->channel[i].engine);
    }
    free(gpu->channel);
    free(gpu->busy_channels);
    free(gpu->answering);
    free(gpu->channel_next_ps);
}

uint64_t gpu_channels_lookahead_ps(const struct gpu *gpu)
{
    const struct dram_spec *spec = &gpu->model->dram;
    uint32_t write_cycles = spec->t_wl ? spec->t_wl : spec->t_cl;
    uint32_t least = write_cycles < spec->t_cl ? write_cycles : spec->t_cl;
    return clock_cycles_to_ps(&gpu->clock, spec->fixed_cycles) + least * spec->period_ps;
}
