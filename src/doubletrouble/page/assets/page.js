/* Between the controls and the server: one question at a time, the newest next; the address. */
(function () {
  "use strict";
  const clientside = (window.dash_clientside = window.dash_clientside || {});
  const PATIENCE = 4000; // milliseconds until an answer is given up
  const SETTLED = 350; // milliseconds of rest until a place in the history is made
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 700px)");
  const state = {
    query: window.location.search, // what the server last said it shows
    known: null, // the values of the controls, as far as the server knows
    changes: {}, // what was moved since
    asked: 0,
    waiting: null, // when the question was asked that is not answered yet
    rest: null,
    first: true,
  };

  function question() {
    const asked = {
      number: ++state.asked,
      query: state.query.replace(/^\?/, ""),
      changes: state.changes,
      dark: dark.matches,
      narrow: narrow.matches,
    };
    state.changes = {};
    state.waiting = performance.now();
    const number = state.asked;
    window.setTimeout(function () {
      if (state.waiting !== null && state.asked === number) {
        say("The server does not answer. Is it still running?");
        state.waiting = null;
      }
    }, PATIENCE);
    return asked;
  }

  function ask() {
    if (state.waiting === null) {
      clientside.set_props("asked", { data: question() });
    }
  }

  function say(sentence) {
    clientside.set_props("notes", { children: sentence });
  }

  function remember(query) {
    window.clearTimeout(state.rest);
    const address = window.location.pathname + (query ? "?" + query : "");
    if (state.first) {
      state.first = false;
      window.history.replaceState(null, "", address);
      return settle();
    }
    state.rest = window.setTimeout(function () {
      if (address !== window.location.pathname + window.location.search) {
        window.history.pushState(null, "", address);
      }
      settle();
    }, SETTLED);
  }

  function settle() {
    clientside.set_props("settled", { data: state.query });
  }

  window.addEventListener("popstate", function () {
    window.clearTimeout(state.rest);
    state.query = window.location.search;
    state.changes = {};
    state.first = true; // the address is this one already
    if (state.waiting === null) {
      ask();
    } else {
      state.again = true;
    }
  });
  document.addEventListener("change", function (event) {
    const list = event.target;
    if (list.matches && list.matches("select.select") && list.value !== "") {
      state.changes[list.id] = list.value;
      ask();
    }
  });
  dark.addEventListener("change", ask);
  narrow.addEventListener("change", ask);

  /* The curves of the document itself go when the plot is there. */
  function uncover() {
    const preview = document.getElementById("preview");
    if (preview && document.querySelector("#plot .scatterlayer .trace")) {
      preview.remove();
    } else if (preview) {
      window.requestAnimationFrame(uncover);
    }
  }
  window.requestAnimationFrame(uncover);

  clientside.page = {
    /* A control was moved: ask now, or when the last answer has come. */
    moved: function () {
      const nothing = clientside.no_update;
      const context = clientside.callback_context;
      if (state.known === null) {
        state.known = {};
        for (const group of context.inputs_list.flat()) {
          state.known[group.id] = group.value;
        }
        return question();
      }
      let fresh = false;
      for (const moved of context.triggered) {
        const id = moved.prop_id.split(".")[0];
        if (state.known[id] !== moved.value) {
          state.known[id] = moved.value;
          state.changes[id] = moved.value;
          fresh = true;
        }
      }
      return fresh && state.waiting === null ? question() : nothing;
    },

    /* An answer came: show it on the controls, and ask for what was moved meanwhile. */
    answered: function (answer) {
      if (!answer) {
        return clientside.no_update;
      }
      state.waiting = null;
      if (state.again) {
        state.again = false;
        ask();
        return clientside.no_update;
      }
      state.query = answer.query;
      for (const [id, value] of Object.entries(answer.controls)) {
        const list = document.getElementById(id);
        if (list && list.matches("select.select")) {
          if (!(id in state.changes)) {
            list.value = value;
          }
          continue;
        }
        const same = String(state.known[id]) === String(value);
        if (!same && !(id in state.changes)) {
          state.known[id] = value;
          clientside.set_props(id, { value: value });
        }
      }
      for (const [id, words] of Object.entries(answer.spoken)) {
        const slider = document.getElementById(id);
        if (slider) {
          slider.setAttribute("aria-valuetext", words);
        }
      }
      for (const group of document.querySelectorAll(".radios")) {
        const legend = group.parentElement.querySelector("legend");
        group.setAttribute("role", "radiogroup");
        group.setAttribute("aria-labelledby", legend.id);
      }
      const plot = document.getElementById("plot");
      if (plot) {
        plot.setAttribute("role", "figure"); // not img: it has buttons
        plot.setAttribute("aria-label", answer.summary);
      }
      if (Object.keys(state.changes).length > 0) {
        ask();
      } else {
        remember(answer.query);
      }
      return clientside.no_update;
    },

    /* New points of a simulation: draw them. */
    simulated: function (job) {
      if (job && job.fresh) {
        ask();
      }
      return clientside.no_update;
    },

    picture: function (clicks) {
      const plot = document.querySelector("#plot .js-plotly-plot");
      if (clicks && plot) {
        window.Plotly.downloadImage(plot, {
          format: "png",
          scale: 2,
          width: plot.clientWidth,
          height: plot.clientHeight,
          filename: "doubletrouble",
        });
      }
      return clientside.no_update;
    },
  };
})();
