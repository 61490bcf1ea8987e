import {
  A2AError,
  type Operations,
  removeTaskGeneration,
  splitEventPosition,
  type Task,
} from "../../protocol/index.ts";
import type { Transport, UnaryOperation } from "../transport/transport.ts";

/**
 * Wraps a transport that requests the stream cursor extension. The id of each event becomes its sequence
 * number, so that streams resume over every binding. The wrapper drops events that the client already has. If
 * events are missing, the wrapper throws `UNAVAILABLE`, so that the stream resumes before the gap.
 */
export function withStreamCursor(transport: Transport): Transport {
  return {
    version: transport.version,
    async call(operation, params, call) {
      const result = await transport.call(operation, params, call);
      return isGetTaskResult(operation, result) ? removeTaskGeneration(result) : result;
    },
    async *stream(operation, params, call) {
      let lastGeneration = call.lastEventId === undefined ? undefined : Number(call.lastEventId);
      for await (const received of transport.stream(operation, params, call)) {
        const { event, position } = splitEventPosition(received.event);
        if (!position) {
          yield received;
          continue;
        }
        const { generation, previousGeneration } = position;
        // A task has no previous event, because it replaces everything that the client has.
        if (previousGeneration !== undefined && lastGeneration !== undefined) {
          if (generation <= lastGeneration) continue;
          if (previousGeneration > lastGeneration)
            throw createEventGapError(lastGeneration, previousGeneration);
        }
        lastGeneration = generation;
        yield { ...received, id: String(generation), event };
      }
    },
  };
}

function isGetTaskResult<O extends UnaryOperation>(
  operation: O,
  result: Operations[O]["result"],
): result is Operations[O]["result"] & Task {
  return operation === "GetTask" && "status" in result;
}

function createEventGapError(lastGeneration: number, previousGeneration: number): A2AError {
  const text = `The stream skipped the events ${lastGeneration + 1} to ${previousGeneration}. Subscribe to the task again.`;
  return new A2AError("UNAVAILABLE", text);
}
