// The Worker of TrainingLab: trains the runs step by step, so that the page stays free to be read.
//
// It takes { id, settings } for new runs, one for each element of `settings`, { running } to go on or to rest, and
// { single: true } for one step. It answers { id, step, runs } with what each run measures every tenth step, or
// { id, step, diverged: { run, loss } }, and then rests.

import { STEPS, createTraining, hasDiverged } from "./neighbours.js";

const MEASURE_EVERY = 10;
let wanted = null; // { id, settings } of the runs to begin; while a slider is dragged only the last ones are begun
let [id, step, trainings] = [0, 0, []];
let [running, turning] = [false, false];

function report(losses, answer) {
    const run = losses.findIndex(hasDiverged);
    if (run < 0) return answer && postMessage({ id, step, ...answer });
    running = false;
    trainings = []; // nothing to go on with
    postMessage({ id, step, diverged: { run, loss: losses[run] } });
}

function tell() {
    if (!trainings.length) return;
    const runs = trainings.map((training) => training.measure());
    report(runs.map(({ loss }) => loss), { runs });
}

function advance() {
    if (!trainings.length || step === STEPS) return;
    const losses = trainings.map((training) => training.step());
    step++;
    report(losses);
}

// One step a turn, with a look at the messages in between. A timer would wait 4 ms each time, a channel does not.
const { port1, port2 } = new MessageChannel();
function turn() {
    if (!turning) port2.postMessage(null);
    turning = true;
}
port1.onmessage = () => {
    turning = false;
    if (wanted) {
        trainings = wanted.settings.map(createTraining);
        [id, step, wanted] = [wanted.id, 0, null];
        tell();
    } else if (running) {
        advance();
        if (step % MEASURE_EVERY === 0) tell();
        if (step === STEPS) running = false;
    }
    if (running) turn();
};

addEventListener("message", ({ data }) => {
    if (data.settings) {
        wanted = data;
        running = false;
    } else if (data.single) {
        advance();
        tell();
    } else running = data.running;
    if (wanted || running) turn();
});
