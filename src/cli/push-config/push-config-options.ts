import type { ClientOptions } from "../client-options.ts";
import { createUsageError } from "../cli-error.ts";

/** Returns the task id and the push configuration id among the arguments, or throws a usage error. */
export function requireTaskAndConfigIds(words: readonly string[]): [taskId: string, id: string] {
  const [taskId, id, ...rest] = words;
  if (taskId !== undefined && id !== undefined && rest.length === 0) return [taskId, id];
  throw createUsageError("Pass the ids of the task and of the configuration.");
}

export interface PushConfigCreateOptions extends ClientOptions {
  url: string;
  id?: string;
  token?: string;
  scheme?: string;
  credentials?: string;
}
