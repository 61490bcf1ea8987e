import * as adk from "@google/adk";
import { expect, it } from "vitest";
import { sparePlugins } from "./spare-plugins.ts";

type Asked = Parameters<adk.PluginManager["runOnEventCallback"]>[0];

const asked = { event: adk.createEvent({ author: "a" }) } as Asked;

class Renamer extends adk.BasePlugin {
  override async onEventCallback({ event }: Asked): Promise<adk.Event> {
    return { ...event, author: this.name };
  }
}

it("answers for plugins that are not there, and asks those that come later", async () => {
  const manager = new adk.PluginManager();
  sparePlugins(manager, adk);
  expect(await manager.runOnEventCallback(asked)).toBeUndefined();
  manager.registerPlugin(new Renamer("late"));
  expect(await manager.runOnEventCallback(asked)).toMatchObject({ author: "late" });
});

it("leaves a manager alone that answers by itself", async () => {
  class Own extends adk.PluginManager {
    override async runOnEventCallback({ event }: Asked): Promise<adk.Event> {
      return { ...event, author: "own" };
    }
  }
  const manager = new Own();
  sparePlugins(manager, adk);
  expect(await manager.runOnEventCallback(asked)).toMatchObject({ author: "own" });
});
