import { isObject, type AgentInterface, type JsonObject } from "../../protocol/index.ts";
import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";
import { findRequestIds, getRecordedAgentName } from "../../observe/trace/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import type { FetchedCard } from "../card/fetch-card.ts";
import type { StreamCallOptions, Transport } from "../transport/transport.ts";
import {
  ClientCallRecorder,
  type RecordedInterface,
  type RecordedRequest,
} from "./client-traffic-recorder.ts";

/** Records the requests, responses, and stream events of a transport, and the agent card of the client. */
export function withTrafficRecord(
  transport: Transport,
  writer: TrafficWriter,
  { card, json, url }: FetchedCard,
  agentInterface: AgentInterface,
): Transport {
  const agent = getRecordedAgentName(writer, card.name, agentInterface.url);
  if (isObject(json)) writer.write({ kind: "agent", agent, url, card: json });
  const target: RecordedInterface = {
    agent,
    url: agentInterface.url,
    binding: agentInterface.protocolBinding as RecordedInterface["binding"],
    version: transport.version,
  };
  return {
    version: transport.version,
    async call(operation, params, call) {
      const recorder = new ClientCallRecorder(writer, target, operation, describeRequest(params, call));
      if (target.binding === "GRPC") recorder.recordRequest();
      try {
        const result = await transport.call(operation, params, { ...call, httpListener: recorder });
        recorder.recordResult(result);
        return result;
      } catch (error) {
        recorder.recordFailure(error);
        throw error;
      }
    },
    async *stream(operation, params, call) {
      const recorder = new ClientCallRecorder(writer, target, operation, describeRequest(params, call));
      if (target.binding === "GRPC") recorder.recordRequest();
      let end: "completed" | "canceled" | "cut" = "canceled";
      let failure: unknown;
      try {
        for await (const received of transport.stream(operation, params, {
          ...call,
          httpListener: recorder,
        })) {
          recorder.recordEvent(received);
          yield received;
        }
        end = "completed";
      } catch (error) {
        end = call.signal?.aborted ? "canceled" : "cut";
        failure = error;
        throw error;
      } finally {
        recorder.recordStreamEnd(end, failure);
      }
    },
  };
}

function describeRequest(
  params: object,
  { headers = {}, lastEventId }: Pick<StreamCallOptions, "headers" | "lastEventId">,
): RecordedRequest {
  const after = lastEventId === undefined ? Number.NaN : Number(lastEventId);
  const { taskId, agent } = getCurrentTraceScope()?.task ?? {};
  return {
    ...(taskId !== undefined && { parent: { task_id: taskId, ...(agent !== undefined && { agent }) } }),
    ...findRequestIds(params),
    ...(Number.isSafeInteger(after) && { after }),
    params: params as JsonObject,
    headers,
  };
}
