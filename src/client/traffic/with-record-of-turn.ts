import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import type { Transport } from "../transport/transport.ts";

/**
 * Records the calls that an agent makes during its turn in the record of the server that runs the turn. Other calls are
 * not recorded. `createRecordedTransport` is called once for each record.
 */
export function withRecordOfTurn(
  transport: Transport,
  createRecordedTransport: (writer: TrafficWriter) => Promise<Transport>,
): Transport {
  const recordedTransports = new WeakMap<TrafficWriter, Promise<Transport>>();
  const findRecordedTransport = (): Promise<Transport> | undefined => {
    const writer = getCurrentTraceScope()?.task?.record;
    if (!writer) return undefined;
    // A record that cannot start must not affect the call.
    const recorded = recordedTransports.get(writer) ?? createRecordedTransport(writer).catch(() => transport);
    recordedTransports.set(writer, recorded);
    return recorded;
  };
  return {
    version: transport.version,
    call(operation, params, call) {
      const recorded = findRecordedTransport();
      if (!recorded) return transport.call(operation, params, call);
      return recorded.then((chosen) => chosen.call(operation, params, call));
    },
    stream(operation, params, call) {
      const recorded = findRecordedTransport();
      if (!recorded) return transport.stream(operation, params, call);
      return (async function* () {
        yield* (await recorded).stream(operation, params, call);
      })();
    },
  };
}
