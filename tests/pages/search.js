// Run searches on a built site as its search box does: with the worker of the theme.
//
// node search.js SITE < QUERIES, one query a line, prints the locations of the pages that are found,
// best first. tests/pages/search.py calls it.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const site = process.argv[2];
const workers = path.join(site, "assets", "javascripts", "workers");
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json"), "utf8"));

let receive; // the function of the worker that gets messages
let answer; // what to do with its next message
const scope = {
  addEventListener: (_, listener) => { receive = listener; },
  postMessage: (message) => answer(message),
  console,
};
scope.self = scope;
vm.runInNewContext(fs.readFileSync(path.join(workers, worker), "utf8"), scope);

const send = (data) => new Promise((resolve) => { answer = resolve; receive({ data }); });

(async () => {
  await send({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: true } } });
  for (const query of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const { data } = await send({ type: 2, data: query });
    console.log(JSON.stringify(data.items.map((sections) => sections[0].location)));
  }
})();
