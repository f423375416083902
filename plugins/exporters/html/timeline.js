// SPDX-License-Identifier: Apache-2.0
// Timelines of the page: pan, zoom and look at what the exporter has added up.
"use strict";
