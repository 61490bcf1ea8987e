import { formatDuration, pluralize } from "../text-format.ts";
import type { RunModel } from "./run-model.ts";

/** State of a run, for the label beside its name. */
interface RunStateLabel {
  /** CSS class of the label. */
  readonly kind: "running" | "quiet" | "completed" | "interrupted" | "failed" | "unknown";
  readonly label: string;
}

/** Time in milliseconds without a new line after which a live run is no longer called running. */
const QUIET_AFTER_MS = 15_000;

/**
 * Describes the state of a run. `nowMs` is the current time in milliseconds since 1970. A run without an end line was
 * killed or still works. A writer that has locked the file of a live record distinguishes the two.
 */
export function describeRunState(model: RunModel, isLive: boolean, nowMs: number): RunStateLabel {
  const torn = model.tornLineCount > 0 ? `, ${pluralize(model.tornLineCount, "line")} unreadable` : "";
  if (model.isEmpty)
    return { kind: isLive ? "running" : "unknown", label: isLive ? "waiting for the run to start" : "empty" };
  const degraded = model.ends.some(({ recorder }) => recorder === "degraded") ? ", record incomplete" : "";
  if (model.endStatus) return { kind: model.endStatus, label: `${model.endStatus}${degraded}${torn}` };
  if (!isLive) {
    if (!model.run) return { kind: "unknown", label: `cards without a run record${torn}` };
    return { kind: "interrupted", label: `no recorded end: killed or still running${torn}` };
  }
  if (model.writerState === "exited") return { kind: "interrupted", label: `killed: no recorded end${torn}` };
  const quietMs = nowMs - model.lastLineTimeMs;
  if (quietMs < QUIET_AFTER_MS) return { kind: "running", label: `running${torn}` };
  const quiet = `no new line for ${formatDuration(quietMs)}`;
  return model.writerState === "active"
    ? { kind: "running", label: `running, ${quiet}${torn}` }
    : { kind: "quiet", label: `${quiet}: killed or waiting${torn}` };
}
