import type * as Adk from "@google/adk";

const RESOLVED_UNDEFINED = Promise.resolve(undefined);

/**
 * Makes a plugin manager without plugins skip its plugin callbacks.
 *
 * Without this patch, ADK makes four asynchronous plugin calls for every model chunk, even without
 * plugins. Each patched callback returns a resolved promise. The function patches only callbacks with
 * ADK's own implementation.
 */
export function skipEmptyPluginManagerCallbacks(
  manager: Adk.PluginManager,
  { PluginManager }: typeof Adk,
): void {
  const own = PluginManager.prototype;
  const isOwn = manager.runAfterModelCallback === own.runAfterModelCallback;
  if (!isOwn || manager.runOnEventCallback !== own.runOnEventCallback) return;
  const afterModel = manager.runAfterModelCallback.bind(manager);
  manager.runAfterModelCallback = (request) =>
    manager.hasPlugins ? afterModel(request) : RESOLVED_UNDEFINED;
  const onEvent = manager.runOnEventCallback.bind(manager);
  manager.runOnEventCallback = (request) => (manager.hasPlugins ? onEvent(request) : RESOLVED_UNDEFINED);
}
