import type * as Adk from "@google/adk";

const RESOLVED_UNDEFINED = Promise.resolve(undefined);

/**
 * ADK asks its plugins about every piece that a model says, when it comes and when it goes on, and needs four
 * asynchronous calls to find that there are none. Where there are none, and the questions are ADK's own, they are
 * answered at once.
 */
export function bypassEmptyPlugins(manager: Adk.PluginManager, { PluginManager }: typeof Adk): void {
  const own = PluginManager.prototype;
  const isOwn = manager.runAfterModelCallback === own.runAfterModelCallback;
  if (!isOwn || manager.runOnEventCallback !== own.runOnEventCallback) return;
  const afterModel = manager.runAfterModelCallback.bind(manager);
  manager.runAfterModelCallback = (asked) => (manager.hasPlugins ? afterModel(asked) : RESOLVED_UNDEFINED);
  const onEvent = manager.runOnEventCallback.bind(manager);
  manager.runOnEventCallback = (asked) => (manager.hasPlugins ? onEvent(asked) : RESOLVED_UNDEFINED);
}
