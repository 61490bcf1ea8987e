import type { ClientOptions } from "../options.ts";
import { Problem } from "../problem.ts";

/** The ids of a task, and of a configuration of it. */
export function twoIds(words: readonly string[]): [taskId: string, id: string] {
  const [taskId, id, ...more] = words;
  if (taskId !== undefined && id !== undefined && more.length === 0) return [taskId, id];
  throw new Problem("A2ACLI_ERR_USAGE", "Name the task and the configuration by their ids.");
}

export interface CreateOptions extends ClientOptions {
  url: string;
  id?: string;
  token?: string;
  scheme?: string;
  credentials?: string;
}
