# SPDX-License-Identifier: Apache-2.0
# Completion of tracemill in fish: the program itself says what can stand at the cursor.

function __tracemill_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] $current 2>/dev/null)
        switch $line
            case :files
                # What stands before the file's name stays: "--option=", "stage.key=".
                set -l before (string match -r -- '^.*=' $current)
                set -l part (string replace -r -- '^.*=' '' $current)
                for file in (__fish_complete_path $part)
                    echo "$before$file"
                end
            case :folders
                set -l before (string match -r -- '^.*=' $current)
                set -l part (string replace -r -- '^.*=' '' $current)
                for folder in (__fish_complete_directories $part)
                    echo "$before$folder"
                end
            case '*'
                echo "$line"
        end
    end
end

complete -c tracemill -f -a '(__tracemill_complete)'
