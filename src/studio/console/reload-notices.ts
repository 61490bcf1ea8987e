import type { AgentLoadFailed, AgentReloadNotice } from "../console-api/index.ts";

/** Maximum number of notices for pages that read slowly. The failures remain in any case. */
const MAX_NOTICES = 100;

/** A position in the notices, starting at 0. */
export type ReloadNoticePosition = number;

/** The newest notices of `colloquy dev`, and the failures that the user has not corrected yet. */
export class ReloadNotices {
  readonly #failures = new Map<string, AgentLoadFailed>();
  #notices: readonly AgentReloadNotice[] = [];
  #count = 0;

  /** Position behind the newest notice. */
  get end(): ReloadNoticePosition {
    return this.#count;
  }

  add(notice: AgentReloadNotice): void {
    if (notice.kind === "agentLoadFailed") this.#failures.set(notice.agent, notice);
    else this.#failures.delete(notice.agent);
    this.#notices = [...this.#notices, notice].slice(-MAX_NOTICES);
    this.#count += 1;
  }

  /** Returns the last failure of each agent that was not loaded since then. */
  listFailures(): AgentLoadFailed[] {
    return [...this.#failures.values()];
  }

  /** Returns the notices after a position, oldest first. */
  listAfter(position: ReloadNoticePosition): readonly AgentReloadNotice[] {
    const missing = this.#count - position;
    return missing === 0 ? [] : this.#notices.slice(-missing);
  }
}
