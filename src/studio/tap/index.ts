/**
 * THE TAP. A recording reverse proxy between A2A agents of any vendor. `startTap` forwards HTTP and gRPC requests
 * unchanged, writes them to a traffic record, and injects faults. `startReplay` serves an agent from a record.
 */
export type { FaultRuleJson, TapControl, TapStatusJson } from "./control-api.ts";
export { type FaultRule, parseFaultRule } from "./faults/fault-rule.ts";
export { type ActiveFaultRule, FaultSwitches } from "./faults/fault-switches.ts";
export type { TapCallSummary } from "./relay-context.ts";
export { type RunningTap, startTap, type TapOptions, type TapTarget } from "./start-tap.ts";
export {
  collectRecordedAgents,
  type RecordedAgent,
  type RecordedExchange,
} from "./replay/recorded-exchanges.ts";
export { readRecordedEvents } from "./replay/replay-response.ts";
export { type ReplayOptions, type RunningReplay, startReplay } from "./replay/start-replay.ts";
