import * as adk from "@google/adk";
import { expect, it } from "vitest";
import { bypassEmptyPlugins } from "./bypass-empty-plugins.ts";

type OnEventRequest = Parameters<adk.PluginManager["runOnEventCallback"]>[0];

const onEventRequest = { event: adk.createEvent({ author: "a" }) } as OnEventRequest;

class AuthorRenamingPlugin extends adk.BasePlugin {
  override async onEventCallback({ event }: OnEventRequest): Promise<adk.Event> {
    return { ...event, author: this.name };
  }
}

it("answers for plugins that are not there, and asks those that come later", async () => {
  const manager = new adk.PluginManager();
  bypassEmptyPlugins(manager, adk);
  expect(await manager.runOnEventCallback(onEventRequest)).toBeUndefined();
  manager.registerPlugin(new AuthorRenamingPlugin("late"));
  expect(await manager.runOnEventCallback(onEventRequest)).toMatchObject({ author: "late" });
});

it("leaves a manager alone that answers by itself", async () => {
  class CustomPluginManager extends adk.PluginManager {
    override async runOnEventCallback({ event }: OnEventRequest): Promise<adk.Event> {
      return { ...event, author: "own" };
    }
  }
  const manager = new CustomPluginManager();
  bypassEmptyPlugins(manager, adk);
  expect(await manager.runOnEventCallback(onEventRequest)).toMatchObject({ author: "own" });
});
