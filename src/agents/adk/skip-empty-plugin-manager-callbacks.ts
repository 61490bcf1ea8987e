import type * as Adk from "@google/adk";

const RESOLVED_UNDEFINED = Promise.resolve(undefined);

/** Callbacks that ADK calls in every run, for every model call, or for every model chunk. */
const FREQUENT_CALLBACK_NAMES = [
  "runOnUserMessageCallback",
  "runBeforeRunCallback",
  "runAfterRunCallback",
  "runBeforeAgentCallback",
  "runAfterAgentCallback",
  "runBeforeModelCallback",
  "runAfterModelCallback",
  "runOnEventCallback",
] as const satisfies readonly (keyof Adk.PluginManager)[];

/**
 * Makes a plugin manager without plugins skip its plugin callbacks.
 *
 * Without this patch, ADK makes six asynchronous plugin calls for every run and four for every model chunk,
 * even without plugins. Each patched callback returns a resolved promise. The function patches only callbacks
 * with ADK's own implementation.
 */
export function skipEmptyPluginManagerCallbacks(
  manager: Adk.PluginManager,
  { PluginManager }: typeof Adk,
): void {
  for (const name of FREQUENT_CALLBACK_NAMES) {
    const callback: (request: never) => Promise<unknown> = manager[name];
    if (callback !== PluginManager.prototype[name]) continue;
    const value = (request: never): Promise<unknown> =>
      manager.hasPlugins ? callback.call(manager, request) : RESOLVED_UNDEFINED;
    Object.defineProperty(manager, name, { value, writable: true, configurable: true });
  }
}
