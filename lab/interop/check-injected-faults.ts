import {
  loadTrafficModel,
  type FaultLine,
  type TimelineMark,
  type TrafficCall,
  type TrafficLine,
} from "../../src/observe/trace/index.ts";

/** The faults that a record contains, and the faults or marks that do not fit each other. */
export interface FaultCheck {
  /** Number of injected faults by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Descriptions of faults without the marks that they require, and of marks without a fault. */
  readonly problems: readonly string[];
}

/** The lines and the marks of one call. */
interface MarkedCall {
  readonly call: TrafficCall;
  readonly frameIndexes: readonly number[];
  readonly faults: readonly FaultLine[];
  readonly marks: readonly TimelineMark[];
}

/** Checks that the model of a record marks each injected fault with its result, and that it marks nothing else. */
export function checkInjectedFaults(lines: readonly TrafficLine[]): FaultCheck {
  const calls = collectCalls(lines);
  const faults: Record<string, number> = {};
  const problems: string[] = [];
  for (const marked of calls) {
    for (const fault of marked.faults) {
      faults[fault.fault] = (faults[fault.fault] ?? 0) + 1;
      for (const missing of listMissingMarks(fault, marked))
        problems.push(`${describeCall(marked)}: ${fault.fault} ${fault.detail ?? ""} has no ${missing}`);
    }
    for (const mark of listUnexplainedMarks(marked))
      problems.push(`${describeCall(marked)}: the mark ${JSON.stringify(mark)} has no fault`);
  }
  return { faults, problems };
}

function collectCalls(lines: readonly TrafficLine[]): MarkedCall[] {
  const { model } = loadTrafficModel(lines.map((line) => ({ type: "traffic", line })));
  const marksByCall = Map.groupBy(
    [...model.tasks.values()].flatMap(({ marks }) => [...marks]),
    ([{ line }]) => ("call" in line ? `${line.writer}/${line.call}` : ""),
  );
  const linesByCall = Map.groupBy(lines, (line) => ("call" in line ? `${line.writer}/${line.call}` : ""));
  return [...model.calls.values()].map((call) => {
    const own = linesByCall.get(call.key) ?? [];
    return {
      call,
      frameIndexes: own.flatMap((line) => (line.kind === "frame" ? (line.index ?? []) : [])),
      faults: own.filter((line) => line.kind === "fault"),
      marks: (marksByCall.get(call.key) ?? []).flatMap(([, marks]) => marks),
    };
  });
}

function listMissingMarks(fault: FaultLine, { call, frameIndexes, marks }: MarkedCall): string[] {
  const { index = 0 } = fault;
  const isMarkedAsCut = marks.some(({ kind }) => kind === "cut") || call.taskKey === undefined;
  const isCut = call.end?.line.reason === "cut" && isMarkedAsCut;
  const isWithoutResponse = call.end === undefined && call.response?.line.error !== undefined;
  const count = frameIndexes.filter((frame) => frame === index).length;
  const requirements: Record<string, readonly (readonly [description: string, isMet: boolean])[]> = {
    cut: [["cut", isCut]],
    kill: [["cut", isCut || isWithoutResponse]],
    drop:
      fault.index === undefined
        ? [["failed response", isWithoutResponse]]
        : [
            ["missing frame", count === 0],
            ["gap", isCut || marks.some((mark) => isGapAround(mark, index))],
          ],
    duplicate: [
      ["second frame", count === 2],
      ["duplicate mark", call.taskKey === undefined || marks.some(({ kind }) => kind === "duplicate")],
    ],
    delay: [
      ["delayed response", (call.response?.line.duration_ms ?? 0) >= Number.parseInt(fault.detail ?? "", 10)],
    ],
    reject: [["error response", call.response?.line.error !== undefined]],
    slow: [],
  };
  const isFaultMarked =
    call.taskKey === undefined || marks.some((mark) => mark.kind === "fault" && mark.fault === fault.fault);
  return [["fault mark", isFaultMarked] as const, ...(requirements[fault.fault] ?? [])].flatMap(
    ([description, isMet]) => (isMet ? [] : [description]),
  );
}

function isGapAround(mark: TimelineMark, index: number): boolean {
  return mark.kind === "gap" && mark.where === "frames" && mark.from <= index && index <= mark.to;
}

function listUnexplainedMarks({ faults, marks }: MarkedCall): TimelineMark[] {
  const has = (kind: FaultLine["fault"]): boolean => faults.some(({ fault }) => fault === kind);
  return marks.filter(
    ({ kind }) =>
      (kind === "gap" && !has("drop")) ||
      (kind === "duplicate" && !has("duplicate")) ||
      kind === "lost-lines",
  );
}

function describeCall({ call }: MarkedCall): string {
  return `${call.request?.line.operation ?? "call"} ${call.key}`;
}
