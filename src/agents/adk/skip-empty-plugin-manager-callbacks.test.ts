import * as adk from "@google/adk";
import { expect, it } from "vitest";
import { skipEmptyPluginManagerCallbacks } from "./skip-empty-plugin-manager-callbacks.ts";

type OnEventRequest = Parameters<adk.PluginManager["runOnEventCallback"]>[0];

const onEventRequest = { event: adk.createEvent({ author: "a" }) } as OnEventRequest;

class AuthorRenamingPlugin extends adk.BasePlugin {
  override async onEventCallback({ event }: OnEventRequest): Promise<adk.Event> {
    return { ...event, author: this.name };
  }
}

it("skips callbacks without plugins, and calls plugins that are added later", async () => {
  const manager = new adk.PluginManager();
  skipEmptyPluginManagerCallbacks(manager, adk);
  expect(await manager.runOnEventCallback(onEventRequest)).toBeUndefined();
  // ADK's own callback would return a new promise for each call.
  expect(manager.runOnEventCallback(onEventRequest)).toBe(manager.runOnEventCallback(onEventRequest));
  manager.registerPlugin(new AuthorRenamingPlugin("late"));
  expect(await manager.runOnEventCallback(onEventRequest)).toMatchObject({ author: "late" });
});

it("does not patch a manager with custom callbacks", async () => {
  class CustomPluginManager extends adk.PluginManager {
    override async runOnEventCallback({ event }: OnEventRequest): Promise<adk.Event> {
      return { ...event, author: "own" };
    }
  }
  const manager = new CustomPluginManager();
  skipEmptyPluginManagerCallbacks(manager, adk);
  expect(await manager.runOnEventCallback(onEventRequest)).toMatchObject({ author: "own" });
});
