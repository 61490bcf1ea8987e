import { describe, expect, it } from "vitest";
import { A2AError, textOf, type JsonObject, type Message, type Task } from "../protocol/index.ts";
import {
  alice,
  askForInput,
  bob,
  chunk,
  drain,
  house,
  Puppet,
  reasonOf,
  request,
  settle,
  taskOf,
  word,
  working,
} from "./engine.fixture.ts";

/** Takes what begins with an exclamation mark, and refuses what begins with a question mark. */
class Listening extends Puppet {
  readonly heard: { text: string; task: Task; caller: object }[] = [];

  deliver(message: Message, task: Task, caller: object): boolean {
    const text = textOf(message.parts);
    if (text.startsWith("?"))
      throw A2AError.invalidParams([{ field: "message", description: "no questions" }]);
    if (!text.startsWith("!")) return false;
    this.heard.push({ text, task, caller });
    return true;
  }
}

describe("a message for an agent at work", () => {
  it("is taken by an agent that wants it, joins the history, and leaves streams and the turn alone", async () => {
    const puppet = new Listening();
    const { engine } = house({ puppet });
    const all = engine.stream(request("begin"), alice).then(drain);
    const run = await puppet.run(0);
    run.say(working, chunk("before ", false));
    await settle();
    const { taskId } = run.run;

    const answer = taskOf(await engine.send(request("!budget 3", { taskId }), alice));
    expect(answer.status.state).toBe("TASK_STATE_WORKING");
    expect(puppet.heard.map(({ text, caller }) => [text, caller])).toEqual([["!budget 3", alice]]);

    run.say(chunk("after")).end();
    expect((await all).map(({ event }) => word(event))).toEqual([
      "task SUBMITTED",
      "WORKING",
      "before ",
      "after",
      "COMPLETED",
    ]);
    const task = await engine.get({ id: taskId }, alice);
    expect(task.history?.map(({ parts }) => textOf(parts))).toEqual(["begin", "!budget 3"]);
    expect(puppet.runs).toHaveLength(1);
  });

  it("is followed by whoever streams it, until the turn that runs has stopped", async () => {
    const puppet = new Listening();
    const { engine } = house({ puppet });
    void engine.send(request("begin"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const all = engine.stream(request("!now", { taskId: run.run.taskId }), alice).then(drain);
    await settle();
    run.say(askForInput).end();
    expect((await all).map(({ event }) => word(event))).toEqual(["task WORKING", "INPUT_REQUIRED"]);
  });

  it("counts once, however often it is sent [E10]", async () => {
    const puppet = new Listening();
    const { engine } = house({ puppet });
    void engine.send(request("begin"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const same = request("!once", { taskId: run.run.taskId });
    await Promise.all([engine.send(same, alice), engine.send(same, alice)]);
    await engine.send(same, alice);
    expect(puppet.heard).toHaveLength(1);
    run.end();
  });

  it("is refused when the agent does not take it, as ever, and with the agent's own reason when it has one", async () => {
    const puppet = new Listening();
    const { engine } = house({ puppet });
    void engine.send(request("begin"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const { taskId } = run.run;
    expect(await reasonOf(engine.send(request("more", { taskId }), alice))).toBe("UNSUPPORTED_OPERATION");
    expect(await reasonOf(engine.send(request("?why", { taskId }), alice))).toBe("INVALID_PARAMS");
    expect(await reasonOf(engine.send(request("!mine", { taskId }), bob))).toBe("TASK_NOT_FOUND");
    expect(puppet.heard).toEqual([]);
    run.end();
  });

  it("is not shown to an agent that waits for its user, or has ended", async () => {
    const puppet = new Listening();
    const { engine } = house({ puppet });
    const asking = engine.send(request("begin"), alice);
    (await puppet.run(0)).say(askForInput).end();
    const { id: taskId } = taskOf(await asking);
    const answering = engine.send(request("!answer", { taskId }), alice);
    (await puppet.run(1)).end();
    await answering;
    expect(await reasonOf(engine.send(request("!late", { taskId }), alice))).toBe("UNSUPPORTED_OPERATION");
    expect(puppet.heard).toEqual([]);
  });
});

describe("what the request to cancel says", () => {
  const metadata = { why: "timeout" };

  it("is known to the run before it ends", async () => {
    const { engine, puppet } = house();
    void engine.send(request("begin"), alice);
    const agent = await puppet.run(0);
    const { run } = agent;
    await settle();
    expect(run.cancellation).toBeUndefined();
    let told: JsonObject | undefined;
    run.signal.addEventListener("abort", () => {
      told = run.cancellation;
      agent.end();
    });
    await engine.cancel({ id: run.taskId, metadata }, alice);
    expect(told).toEqual(metadata);
  });

  it("is nothing when the server closes", async () => {
    const { engine, puppet } = house();
    void engine.send(request("begin"), alice).catch(() => {});
    const found = await puppet.run(0);
    found.run.signal.addEventListener("abort", () => found.end());
    await engine.close(1000);
    expect(found.run.cancellation).toBeUndefined();
  });

  it("is told to an agent whose task waited", async () => {
    const told: JsonObject[] = [];
    class Told extends Puppet {
      cancelled(_task: Task, _caller: object, said: JsonObject): void {
        told.push(said);
      }
    }
    const puppet = new Told();
    const { engine } = house({ puppet });
    for (const [at, cancel] of [{ metadata }, {}].entries()) {
      const asking = engine.send(request("begin"), alice);
      (await puppet.run(at)).say(askForInput).end();
      await engine.cancel({ id: taskOf(await asking).id, ...cancel }, alice);
    }
    expect(told).toEqual([metadata, {}]);
  });
});
