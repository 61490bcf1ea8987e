import type { AgentReloadNotice } from "../../studio/console/index.ts";
import { toRelativePath, type AgentReloadReport } from "../../studio/dev/index.ts";
import type { DescribedFailure } from "./reload-log.ts";

/** Translates the reports about reloads to notices for the pages of the console. */
export class ReloadNoticeSource {
  readonly #cwd: string;
  /** Paths of new files that could not be loaded. Their notices name the path, because their agents have no id yet. */
  #failedPaths: ReadonlySet<string> = new Set();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Returns the notices about a reload at a time in ISO 8601 format. */
  listNotices(
    report: Pick<AgentReloadReport, "reloaded" | "added" | "removed" | "renamed" | "failures">,
    failures: readonly DescribedFailure[],
    at: string,
  ): AgentReloadNotice[] {
    const failedPaths = new Set(
      report.failures
        .filter(({ earlierAgentIds }) => earlierAgentIds.length === 0)
        .map(({ file }) => toRelativePath(file, this.#cwd)),
    );
    const correctedPaths = [...this.#failedPaths].filter((path) => !failedPaths.has(path));
    this.#failedPaths = failedPaths;
    const { reloaded, added, removed, renamed } = report;
    return [
      ...[...removed, ...correctedPaths].map((agent) => ({ kind: "agentRemoved", agent, at }) as const),
      ...[...reloaded, ...added].map(
        (agent) =>
          ({
            kind: "agentReloaded",
            agent,
            at,
            ...(renamed?.to === agent && { earlierId: renamed.from }),
          }) as const,
      ),
      ...failures.flatMap(({ path, message, stack, earlierAgentIds }) =>
        (earlierAgentIds.length > 0 ? earlierAgentIds : [path]).map(
          (agent) =>
            ({
              kind: "agentLoadFailed",
              agent,
              at,
              message,
              ...(stack === undefined ? {} : { stack }),
            }) as const,
        ),
      ),
    ];
  }
}
