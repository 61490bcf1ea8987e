import { createMinimumTarget, createMaximumTarget, type PerformanceTarget } from "./report.ts";
import type { SystemName } from "./systems-under-test.ts";

/** Throughput and CPU time of a system relative to the baseline and to `@a2a-js/sdk`. */
export interface ThroughputRatios {
  readonly toBaseline: number;
  /** CPU time of the server per response, relative to the baseline. */
  readonly cpuToBaseline: number;
  readonly toA2aJs: number;
}

/** Throughput ratios of a long stream. */
export interface LongStreamThroughputRatios extends Omit<ThroughputRatios, "cpuToBaseline"> {
  /** Whether `toA2aJs` is only a lower bound. */
  readonly isBound: boolean;
  /** Cost per chunk of the longest stream divided by the cost per chunk of the shortest stream. */
  readonly growth: number;
}

/** Performance targets by system. */
export type TargetsBySystem<R = ThroughputRatios> = Partial<
  Record<SystemName, (ratios: R) => PerformanceTarget[]>
>;

export const SEND_PERFORMANCE_TARGETS: TargetsBySystem = {
  "colloquy-memory": defineThroughputTargets(0.45, 8, 2.25),
  "colloquy-sqlite": defineThroughputTargets(0.2, 3, 3.5),
};
export const STREAM_PERFORMANCE_TARGETS: TargetsBySystem = {
  "colloquy-memory": defineThroughputTargets(0.5, 5),
};
export const LONG_STREAM_PERFORMANCE_TARGETS: TargetsBySystem<LongStreamThroughputRatios> = {
  "colloquy-memory": defineLongStreamPerformanceTargets(0.4, 100),
  "colloquy-memory-unmerged": defineLongStreamPerformanceTargets(0.3, 100),
};

/** Ratios of a system in the ADK rows, each to a system with the same method. */
export interface AdkRatios {
  /** Throughput relative to `adk-floor`. */
  readonly toFloor: number;
  /** Throughput relative to `adk-toA2a`. */
  readonly toRival: number;
  /** CPU time per task relative to `colloquy-adk-memory-always`. */
  readonly cpuToAlways: number;
}

/** Performance targets of the ADK rows by label. */
export const ADK_PERFORMANCE_TARGETS: Readonly<Record<string, (ratios: AdkRatios) => PerformanceTarget[]>> = {
  "colloquy-adk-memory, whole": ({ toFloor, cpuToAlways }) => [
    createMinimumTarget(0.75, toFloor, "adk-floor"),
    createMaximumTarget(0.5, cpuToAlways, "cpu × always"),
  ],
  "colloquy-adk-memory, streamed": ({ toFloor }) => [createMinimumTarget(0.75, toFloor, "adk-floor")],
  "colloquy-adk-sqlite, whole": ({ toRival }) => [createMinimumTarget(1.5, toRival, "adk-toA2a")],
};

/**
 * Creates the target for the cost of a response in A2A 0.3 relative to 1.0. Each event is translated once.
 */
export const createV03ToV1CostRatioTarget = (cost: number): PerformanceTarget =>
  createMaximumTarget(1.25, cost, "the cost in 1.0");

function defineThroughputTargets(
  floor: number,
  a2aJs: number,
  cpuToFloor?: number,
): (ratios: ThroughputRatios) => PerformanceTarget[] {
  return ({ toBaseline, cpuToBaseline, toA2aJs }) => [
    createMinimumTarget(floor, toBaseline, "floor"),
    ...(cpuToFloor === undefined ? [] : [createMaximumTarget(cpuToFloor, cpuToBaseline, "cpu × floor")]),
    createMinimumTarget(a2aJs, toA2aJs, "a2a-js"),
  ];
}

function defineLongStreamPerformanceTargets(
  floor: number,
  a2aJs: number,
): (ratios: LongStreamThroughputRatios) => PerformanceTarget[] {
  return ({ toBaseline, toA2aJs, isBound, growth }) => [
    createMinimumTarget(floor, toBaseline, "floor"),
    createMinimumTarget(a2aJs, toA2aJs, "a2a-js", isBound),
    createMaximumTarget(1.3, growth, "8000:500"),
  ];
}
