import { describe, expect, it } from "vitest";
import { WorkerQueue } from "./worker-queue.ts";

/** A worker whose replies, errors, and deadlines the test decides. */
class FakeEnvironment {
  readonly log: string[] = [];
  readonly results: (string | undefined)[] = [];
  reply: (result: string | undefined) => void = () => {};
  fail: () => void = () => {};
  passDeadline: () => void = () => {};
  canStart = true;
  readonly queue = new WorkerQueue<string, string>({
    startWorker: (onResult, onError) => {
      if (!this.canStart) throw new Error("The policy of the page forbids workers.");
      this.log.push("start");
      this.reply = onResult;
      this.fail = onError;
      return {
        send: (text) => this.log.push(text),
        terminate: () => this.log.push("terminate"),
      };
    },
    schedule: (_ms, callback) => {
      this.passDeadline = callback;
      return () => {
        this.passDeadline = () => {};
      };
    },
  });

  add(text: string): () => void {
    return this.queue.add(text, (result) => this.results.push(result));
  }
}

describe("the queue of a worker", () => {
  it("sends one input after the other to one worker", () => {
    const fake = new FakeEnvironment();
    fake.add("a");
    fake.add("b");
    expect(fake.log).toEqual(["start", "a"]);
    fake.reply("<p>a</p>");
    fake.reply("<p>b</p>");
    expect(fake.log).toEqual(["start", "a", "b"]);
    expect(fake.results).toEqual(["<p>a</p>", "<p>b</p>"]);
  });

  it("gives up on an input after the deadline, and continues in another worker [SEC-87]", () => {
    const fake = new FakeEnvironment();
    fake.add("slow");
    fake.add("b");
    const replyOfFirstWorker = fake.reply;
    fake.passDeadline();
    expect(fake.log).toEqual(["start", "slow", "terminate", "start", "b"]);
    replyOfFirstWorker("<p>slow</p>");
    fake.reply("<p>b</p>");
    expect(fake.results).toEqual([undefined, "<p>b</p>"]);
  });

  it("drops an input that is canceled before it is sent, and reports the result of one that is canceled later", () => {
    const fake = new FakeEnvironment();
    const cancelFirst = fake.add("a");
    const cancelSecond = fake.add("ab");
    fake.add("abc");
    cancelFirst();
    cancelSecond();
    fake.reply("<p>a</p>");
    fake.reply("<p>abc</p>");
    expect(fake.log).toEqual(["start", "a", "abc"]);
    expect(fake.results).toEqual(["<p>a</p>", "<p>abc</p>"]);
  });

  it("reports no result if the worker fails, or cannot start", () => {
    const fake = new FakeEnvironment();
    fake.add("a");
    fake.fail();
    fake.canStart = false;
    fake.add("b");
    expect(fake.results).toEqual([undefined, undefined]);
    fake.canStart = true;
    fake.add("c");
    expect(fake.log).toEqual(["start", "a", "terminate", "start", "c"]);
  });
});
