import type * as Adk from "@google/adk";

const RESOLVED_UNDEFINED = Promise.resolve(undefined);

/**
 * Skips the plugin callbacks of a plugin manager that has no plugins.
 *
 * For every model chunk, ADK makes four asynchronous calls to find out that there are no plugins. The patched
 * callbacks return a resolved promise instead. Callbacks that differ from ADK's own implementation are not
 * patched.
 */
export function bypassEmptyPlugins(manager: Adk.PluginManager, { PluginManager }: typeof Adk): void {
  const own = PluginManager.prototype;
  const isOwn = manager.runAfterModelCallback === own.runAfterModelCallback;
  if (!isOwn || manager.runOnEventCallback !== own.runOnEventCallback) return;
  const afterModel = manager.runAfterModelCallback.bind(manager);
  manager.runAfterModelCallback = (request) =>
    manager.hasPlugins ? afterModel(request) : RESOLVED_UNDEFINED;
  const onEvent = manager.runOnEventCallback.bind(manager);
  manager.runOnEventCallback = (request) => (manager.hasPlugins ? onEvent(request) : RESOLVED_UNDEFINED);
}
