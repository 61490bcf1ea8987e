import type { DecodedTrafficLine } from "../traffic-line-codec.ts";
import { computeClockShifts } from "./clock-shifts.ts";
import { TrafficModel } from "./traffic-model.ts";

/** A complete record as a model. */
export interface LoadedTraffic {
  readonly model: TrafficModel;
  /** Number of lines that could not be decoded, such as the torn last line of a killed writer. */
  readonly unreadableLines: number;
  /** Milliseconds that were added to the times of a writer, by writer id. */
  readonly clockShiftsMs: ReadonlyMap<string, number>;
}

/**
 * Builds the model of a complete record, and aligns the clocks of its writers. Pass the lines of several files in any
 * order, but the lines of each writer in the order of the file. `consoleUser` names the sender of messages from a console.
 */
export function loadTrafficModel(lines: readonly DecodedTrafficLine[], consoleUser?: string): LoadedTraffic {
  const model = addAllLines(new TrafficModel(undefined, consoleUser), lines);
  const clockShiftsMs = computeClockShifts(model);
  const unreadableLines = lines.filter(({ type }) => type === "unreadable").length;
  if (clockShiftsMs.size === 0) return { model, unreadableLines, clockShiftsMs };
  const shifted = addAllLines(new TrafficModel(clockShiftsMs, consoleUser), lines);
  return { model: shifted, unreadableLines, clockShiftsMs };
}

function addAllLines(model: TrafficModel, lines: readonly DecodedTrafficLine[]): TrafficModel {
  for (const decoded of lines) if (decoded.type === "traffic") model.add(decoded.line);
  return model;
}
