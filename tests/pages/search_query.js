// Rewrite what a reader types before the search of the theme reads it. tests/pages/search_index.py
// puts this text in front of the worker of the theme, in the same file.
//
// - A name such as Query.plot, plot(), --partition-by, matchrec run or bound-too-large also becomes
//   one word, like the names in the index. Then its section comes first.
// - Common words such as "how" and "to" are left out, if they are in lower case and other words
//   remain. In upper case they can be keywords, as in SKIP TO.
// - Other punctuation becomes a space. The theme would read some of it as an operator, and find
//   nothing for --arg or a:b. Quotes stay only around the whole text.
//
// Also mend the automaton of words, so that a search for a number such as 3.5 does not fail.
{
  const INDEX = 0; // types of messages
  const QUERY = 2;
  const RESULT = 3;
  const COMMON_WORDS = ["a", "an", "are", "can", "do", "does", "how", "i", "is", "it", "my", "of", "or", "the", "to", "what"];
  let names = []; // all names in the index

  const beginsName = (word) => names.some((name) => name.startsWith(word));

  // A name as one word: "_query_plot" for Query.plot("x"), "_plot__" for plot(), "" for other words.
  const joinName = (word) => {
    const [name] = word.split("(");
    const call = word.includes("(") && !name.includes(".") ? "()" : "";
    const text = name.replace(/^[^\w-]+|\W+$/g, "") + call;
    const joined = "_" + text.replace(/\W/g, "_").toLowerCase();
    return /\w\W|\W\w/.test(text) && beginsName(joined) ? joined : "";
  };

  const dropCommonWords = (words) => {
    const others = words.split(" ").filter((word) => !COMMON_WORDS.includes(word));
    return others.length ? others.join(" ") : words;
  };

  const rewrite = (query) => {
    const joined = query.replace(/\bmatchrec\s+(?=\w)/g, "matchrec-").split(/[\s=]+/)
      .map(joinName)
      .filter(Boolean)
      .map((name) => names.includes(name) ? `${name}^1` : name); // with a number, not as a prefix
    const words = query.replace(/[^\p{L}\p{N}_.]+|\.(?!\d)/gu, " ").trim();
    const isPhrase = words && /^\s*"[^"]+"\s*$/.test(query);
    return [...joined, isPhrase ? `"${words}"` : dropCommonWords(words)].join(" ").trim();
  };

  // The text of a state in lunr's automaton of words. lunr merges states that have the same text.
  // Its own text puts nothing between the characters and the numbers of the next states, so digits
  // are ambiguous: it would merge different states and find words that are not in the index.
  function describeState() {
    if (this._str) return this._str;
    const edges = Object.keys(this.edges).sort().map((char) => `${char}${this.edges[char].id},`);
    return (this.final ? "1" : "0") + edges.join("");
  }

  const listen = self.addEventListener.bind(self);
  self.addEventListener = (type, receive) => listen(type, ({ data }) => {
    if (data.type === INDEX) {
      lunr.TokenSet.prototype.toString = describeState;
      names = data.data.docs.flatMap((entry) => entry.names ?? []);
    }
    receive({ data: data.type === QUERY ? { ...data, data: rewrite(data.data) } : data });
  });

  // A result lists the words that it does not contain. A joined name is not one of them.
  const post = self.postMessage.bind(self);
  self.postMessage = (message) => {
    if (message.type === RESULT) {
      for (const { terms } of message.data.items.flat()) {
        for (const term in terms) {
          if (term.startsWith("_") && beginsName(term)) delete terms[term];
        }
      }
    }
    post(message);
  };
}
