import { StreamResponse as SdkStreamResponse } from "@a2a-js/sdk";
import { AgentEvent, type ExecutionEventBus } from "@a2a-js/sdk/server";
import type { StreamResponse } from "../protocol/index.ts";

/** Publishes Colloquy events through the official SDK. */
export function publishToA2aJsEventBus(bus: ExecutionEventBus, event: StreamResponse): void {
  const { payload } = SdkStreamResponse.fromJSON(event);
  if (payload?.$case === "task") bus.publish(AgentEvent.task(payload.value));
  if (payload?.$case === "message") bus.publish(AgentEvent.message(payload.value));
  if (payload?.$case === "statusUpdate") bus.publish(AgentEvent.statusUpdate(payload.value));
  if (payload?.$case === "artifactUpdate") bus.publish(AgentEvent.artifactUpdate(payload.value));
}
