/**
 * `npm run lab -- edge-kills` kills workerd and resets Durable Objects while agents run in them, and measures what clients notice.
 * `--kills 20` changes the number of kills. Every second kill resets only the objects.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { getText, type SendMessageResponse, type Task } from "../../src/protocol/index.ts";
import { createUserMessage } from "../../test/support/http-bindings.ts";
import { COUNTED_CHUNKS } from "../../test/resilience/counted-chunks.ts";
import { seededRandom } from "../../test/resilience/cut-streams.ts";
import { installManifest } from "../runtimes/installed-runtimes.ts";
import { NotificationLog } from "./notification-log.ts";
import { RunningAgentHost } from "./running-agent-host.ts";
import { fetchTaskOfObject, readSurvivingStream, type SurvivedStream } from "./survived-stream.ts";

const AGENT_PATH = "/a2a/phoenix";
/** Clients resume the streams of this object. */
const WATCHED_OBJECT = "watched";
/** Nobody calls this object after its messages, so that only its alarm can continue its tasks. */
const UNWATCHED_OBJECT = "unwatched";
/**
 * Number of unfinished tasks of an object from which the driver waits. After two deaths, turns run one at a time, so that
 * a kill per second would starve them.
 */
const MAX_UNFINISHED_TASKS = 6;
/** Longest time between the start of a turn, which takes about a second, and the kill. */
const MAX_KILL_DELAY_MS = 900;
const SETTLE_LIMIT_MS = 120_000;

const { values } = parseArgs({ options: { kills: { type: "string", default: "100" } } });
const kills = Number(values.kills);
const random = seededRandom(20_261_123);
const storageFolder = mkdtempSync(join(tmpdir(), "colloquy-edge-"));
const host = await RunningAgentHost.start(
  installManifest("lab/runtimes/package.json", "colloquy-runtimes"),
  storageFolder,
);
const notifications = await NotificationLog.start();
const deadline = AbortSignal.timeout(kills * 10_000 + SETTLE_LIMIT_MS);
const streams: Promise<SurvivedStream>[] = [];
const unwatchedTaskIds: string[] = [];
let endedStreams = 0;

for (let kill = 0; kill < kills; kill++) {
  while (!deadline.aborted && countUnfinishedTasks() >= MAX_UNFINISHED_TASKS) await pause(100);
  const messageId = `message-${kill}`;
  const stream = readSurvivingStream(
    host,
    { agentPath: AGENT_PATH, object: WATCHED_OBJECT, messageId },
    deadline,
  );
  streams.push(stream);
  void Promise.allSettled([stream]).then(() => endedStreams++);
  unwatchedTaskIds.push(await startUnwatchedTask(messageId));
  await pause(random() * MAX_KILL_DELAY_MS);
  if (kill % 2 === 0) await host.killProcess();
  else await Promise.all([WATCHED_OBJECT, UNWATCHED_OBJECT].map((name) => host.resetObject(name)));
  if ((kill + 1) % 10 === 0) console.error(`${kill + 1} kills`);
}

const settled = await Promise.allSettled(streams);
await waitForNotifications();
const survived = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
const watchedTasks = await Promise.all(
  survived.map(({ taskId }) => fetchTaskOfObject(host, AGENT_PATH, WATCHED_OBJECT, taskId)),
);
const unwatchedTasks = await Promise.all(
  unwatchedTaskIds.map((taskId) => fetchTaskOfObject(host, AGENT_PATH, UNWATCHED_OBJECT, taskId)),
);
const report = {
  kills,
  streams: streams.length,
  resumptions: survived.reduce((sum, { resumptions }) => sum + resumptions, 0),
  unfinishedStreams: streams.length - survived.length,
  streamsWithLostOrRepeatedEvents: survived.filter(({ frames }) => !isContiguous(frames.map(({ id }) => id)))
    .length,
  tasksWithoutWholeText: [...watchedTasks, ...unwatchedTasks].filter((task) => !hasWholeText(task)).length,
  unwatchedTasks: unwatchedTasks.length,
  tasksWithLostNotifications: unwatchedTaskIds.filter(
    (taskId) => !isContiguous(notifications.listSequenceNumbers(taskId).toSorted((a, b) => a - b)),
  ).length,
  repeatedNotifications: notifications.repeatedCount,
};
console.log(JSON.stringify(report, undefined, 2));
notifications.close();
await host.close();
rmSync(storageFolder, { recursive: true, force: true });
const {
  unfinishedStreams,
  streamsWithLostOrRepeatedEvents,
  tasksWithoutWholeText,
  tasksWithLostNotifications,
} = report;
const failures =
  unfinishedStreams + streamsWithLostOrRepeatedEvents + tasksWithoutWholeText + tasksWithLostNotifications;
process.exit(failures === 0 ? 0 : 1);

/** Starts a task with a webhook, and resolves with its id. */
async function startUnwatchedTask(messageId: string): Promise<string> {
  const response = await fetch(await host.resolveUrl(`${AGENT_PATH}/message:send`), {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json", "x-object": UNWATCHED_OBJECT },
    body: JSON.stringify({
      message: createUserMessage(messageId, "count"),
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: notifications.url } },
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The object refused a message with status ${response.status}: ${text}`);
  const answer = JSON.parse(text) as SendMessageResponse;
  return "task" in answer ? answer.task.id : "";
}

/** Returns the number of unfinished tasks of the object with the most of them. */
function countUnfinishedTasks(): number {
  const unwatched = unwatchedTaskIds.filter((taskId) => !notifications.hasEnded(taskId)).length;
  return Math.max(streams.length - endedStreams, unwatched);
}

async function waitForNotifications(): Promise<void> {
  while (!deadline.aborted && !unwatchedTaskIds.every((taskId) => notifications.hasEnded(taskId)))
    await pause(100);
}

function isContiguous(numbers: readonly number[]): boolean {
  return numbers.length > 0 && numbers.every((number, at) => number === at + 1);
}

function hasWholeText({ status, artifacts = [] }: Task): boolean {
  return (
    status.state === "TASK_STATE_COMPLETED" &&
    getText(artifacts.flatMap(({ parts }) => parts)) === COUNTED_CHUNKS.join("")
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
