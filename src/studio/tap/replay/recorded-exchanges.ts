import { isObject, type JsonObject, type OperationName } from "../../../protocol/index.ts";
import {
  type DecodedTrafficLine,
  type FrameLine,
  loadTrafficModel,
  type RequestLine,
  type ResponseLine,
  type StreamEndLine,
  type TrafficCall,
} from "../../../observe/trace/index.ts";
import { decodeRecordedParams, isRecordedOperation } from "./decode-recorded-params.ts";

/** A recorded request to an agent, and its response. */
export interface RecordedExchange {
  /** Who observed the exchange. A tap records bodies as they were sent. */
  readonly vantage: TrafficCall["vantage"];
  readonly operation: OperationName;
  /** Parameters of the request in the form of A2A 1.0. */
  readonly params: JsonObject;
  readonly request: RequestLine;
  readonly response: ResponseLine | undefined;
  readonly frames: readonly FrameLine[];
  readonly end: StreamEndLine | undefined;
}

/** An agent in a record. */
export interface RecordedAgent {
  readonly name: string;
  readonly card: JsonObject | undefined;
  /** Requests in the order of time. */
  readonly exchanges: readonly RecordedExchange[];
  /** Number of requests that cannot be replayed, because the record lacks their bodies. */
  readonly incompleteRequests: number;
}

/**
 * Returns the agents of a record that received requests. If several writers observed a request, the observation with
 * the most frames counts.
 */
export function collectRecordedAgents(lines: readonly DecodedTrafficLine[]): RecordedAgent[] {
  const { model } = loadTrafficModel(lines);
  const framesByCall = collectFrames(lines);
  const agents = new Map<string, { exchanges: RecordedExchange[]; incompleteRequests: number }>();
  for (const exchange of model.exchanges) {
    const call = selectObservation(exchange.calls);
    const request = call?.request?.line;
    if (!call || !request || !isRecordedOperation(request.operation)) continue;
    const agent = agents.get(exchange.to) ?? { exchanges: [], incompleteRequests: 0 };
    agents.set(exchange.to, agent);
    const params = decodeRecordedParams(request.operation, request, call.vantage);
    if (!params) {
      agent.incompleteRequests++;
      continue;
    }
    agent.exchanges.push({
      vantage: call.vantage,
      operation: request.operation,
      params,
      request,
      response: call.response?.line,
      frames: framesByCall.get(call.key) ?? [],
      end: call.end?.line,
    });
  }
  return [...agents].map(([name, found]) => ({ name, card: model.agents.get(name)?.card, ...found }));
}

function selectObservation(calls: readonly TrafficCall[]): TrafficCall | undefined {
  return calls
    .filter(({ request }) => isObject(request?.line) && request.line.body !== undefined)
    .concat(calls)
    .reduce<TrafficCall | undefined>(
      (best, call) => (best === undefined || call.frameCount > best.frameCount ? call : best),
      undefined,
    );
}

/**
 * Collects the frames of each call by the key that the model uses. The frames of a server refer to the events of its
 * log, which the record contains once.
 */
function collectFrames(lines: readonly DecodedTrafficLine[]): ReadonlyMap<string, FrameLine[]> {
  const frames = new Map<string, FrameLine[]>();
  const events = new Map<string, JsonObject>();
  for (const decoded of lines) {
    if (decoded.type !== "traffic") continue;
    const { line } = decoded;
    if (line.kind === "event" && line.event) events.set(`${line.task_id}/${line.log_seq}`, line.event);
    if (line.kind !== "frame") continue;
    const key = `${line.writer}/${line.call}`;
    const event = line.event ?? events.get(`${line.task_id}/${line.log_seq}`);
    const frame = event === undefined ? line : { ...line, event };
    const known = frames.get(key);
    if (known) known.push(frame);
    else frames.set(key, [frame]);
  }
  return frames;
}
